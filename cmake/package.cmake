# What `cmake --install` leaves behind: headers, the library, and a package for find_package(holdfast).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
install(TARGETS holdfast holdfast_lab EXPORT holdfastTargets)
set_target_properties(holdfast_lab PROPERTIES EXPORT_NAME lab)
install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION ${package_dir})

configure_package_config_file(cmake/holdfastConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/holdfastConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/package/holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/package/holdfastConfig.cmake
    ${PROJECT_BINARY_DIR}/package/holdfastConfigVersion.cmake
    DESTINATION ${package_dir})
