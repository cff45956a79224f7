# ccache that hits: for users of precompiled headers, and in every clone of the project on a machine.
#
# Without pch_defines and time_macros ccache refuses each file that uses a precompiled header. With
# base_dir and without the current directory in the hash, paths under the source tree are relative to
# the compiler and equal in all clones. Clang must leave the time out of precompiled headers.
#
# ccache must not run the preprocessor (depend mode: it reads the compiler's list of dependencies): g++
# would find the precompiled header of the last build in its place, and a new one would be taken for
# the same as long as the old one is there, whatever has changed in its headers.
find_program(CCACHE ccache)
if(NOT CCACHE)
    return()
endif()
set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${CCACHE})
# Names of files in messages and in debug information are relative to the source folder, also of those
# that a batch includes (modules.cmake); ccache makes the path of the batch relative.
file(RELATIVE_PATH up ${PROJECT_BINARY_DIR}/batch ${PROJECT_SOURCE_DIR})
string(REGEX REPLACE "/$" "" up ${up})
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
    -ffile-prefix-map=${PROJECT_BINARY_DIR}/batch/${up}=. -ffile-prefix-map=batch/${up}=.)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)  # ccache demands it
else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
