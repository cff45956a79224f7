# Headers that are compiled once for all tests of a kind: gtest.h alone costs a second per file. The
# client's own headers are not among them: g++ instantiates what they need in every file, and that
# takes longer than reading them where they are used.
#
# Tests are compiled without optimisation: half of the compiler's time would go into code that runs
# once, and three quarters of it under the sanitizers. The library under test keeps its own flags.
find_package(GTest REQUIRED)

function(holdfast_test_headers name)
    set(source ${PROJECT_BINARY_DIR}/test_headers/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// The headers are the content.\n")
    add_library(${name} OBJECT ${source})
    target_link_libraries(${name} PRIVATE holdfast::holdfast)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    holdfast_test_flags(${name})
    target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

function(holdfast_test_flags name)
    target_compile_options(${name} PRIVATE -O0)
    target_link_libraries(${name} PRIVATE GTest::gtest)  # its definitions must be those of the headers
endfunction()

holdfast_test_headers(test_unit_headers <gtest/gtest.h> ${HOLDFAST_STD_HEADERS} <holdfast/bson.hpp>)
holdfast_test_headers(test_client_headers <gtest/gtest.h> ${HOLDFAST_STD_HEADERS}
    ${HOLDFAST_ASIO_HEADERS})
