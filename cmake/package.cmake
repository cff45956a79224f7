# What `cmake --install` leaves behind: headers, the libraries, and a package for
# find_package(holdfast) or find_package(holdfast COMPONENTS lab).
#
# The lab is an export set of its own, so that only its users need what it needs (PCRE2).
# A release carries no debug information, most of an archive's size; the preset `debuginfo` does.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
set_target_properties(holdfast_lab PROPERTIES EXPORT_NAME lab)
install(TARGETS holdfast EXPORT holdfastTargets)
install(TARGETS holdfast_lab EXPORT holdfastLabTargets)
install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(set IN ITEMS holdfastTargets holdfastLabTargets)
    install(EXPORT ${set} NAMESPACE holdfast:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/holdfastConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/holdfastConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/package/holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/package/holdfastConfig.cmake
    ${PROJECT_BINARY_DIR}/package/holdfastConfigVersion.cmake
    DESTINATION ${package_dir})
