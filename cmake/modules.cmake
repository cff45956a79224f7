# holdfast_module(core/bson [PURE] [USES core/x ...] [PUBLIC error.hpp bson ...] [LINKS spdlog::spdlog ...])
#
# One folder under src/, not counting its sub-folders, becomes one target: core/bson is called
# holdfast_core_bson. The lab's modules lie under lab/ instead, and go into a library of their own. Its
# include path is a single directory of symbolic links made for it alone: to
# its own headers, to those of the modules it names with USES, and to the part of include/holdfast
# it may see. Nothing else can be found there, so a wrong #include does not compile.
#
# USES is not inherited: a module names every module whose headers it reaches.
# PURE marks a module of the lab that, like core, takes values and returns values.
# PUBLIC says which public headers it may see. By default core sees those without Asio, and all
# others see everything.
# LINKS names libraries that only the bodies of this module use; no header may need them.

# Public headers that a pure module may include.
set(HOLDFAST_CORE_MAY_SEE error.hpp id.hpp options.hpp secret.hpp bson)

# Nearly every file needs these.
set(HOLDFAST_STD_HEADERS <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>
    <boost/system/error_code.hpp>)
# A coroutine needs these, and they cost two seconds a file.
set(HOLDFAST_ASIO_HEADERS <boost/asio/awaitable.hpp> <boost/asio/any_io_executor.hpp>
    <boost/asio/co_spawn.hpp> <boost/asio/use_awaitable.hpp> <boost/asio/ip/tcp.hpp>
    <boost/asio/local/stream_protocol.hpp> <boost/asio/steady_timer.hpp>)

function(holdfast_module module)
    cmake_parse_arguments(PARSE_ARGV 1 arg "PURE" "" "USES;PUBLIC;LINKS")
    string(REPLACE "/" "_" name ${module})
    set(view ${PROJECT_BINARY_DIR}/view/${name})

    file(REMOVE_RECURSE ${view})
    foreach(used IN LISTS module arg_USES)
        # Header by header, since a link to the folder would bring its sub-folders with it.
        holdfast_place_of(${used} folder)
        file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
            ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
        foreach(header IN LISTS headers)
            string(REGEX REPLACE "^src/" "" place ${header})
            holdfast_link_into_view(${header} ${view}/${place})
        endforeach()
    endforeach()
    if(NOT arg_PUBLIC AND (module MATCHES "^core/" OR arg_PURE))
        set(arg_PUBLIC ${HOLDFAST_CORE_MAY_SEE})
    endif()
    if(arg_PUBLIC)
        foreach(header IN LISTS arg_PUBLIC)
            holdfast_link_into_view(include/holdfast/${header} ${view}/holdfast/${header})
        endforeach()
    else()
        holdfast_link_into_view(include/holdfast ${view}/holdfast)
    endif()

    holdfast_place_of(${module} folder)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    if(sources)
        add_library(holdfast_${name} OBJECT ${sources})
        target_include_directories(holdfast_${name} PRIVATE ${view})
        target_link_libraries(holdfast_${name} PRIVATE Boost::headers ${arg_LINKS})
        holdfast_unity(holdfast_${name})
        holdfast_precompile(${module} holdfast_${name} "${arg_PURE}")
        set(library holdfast)
        if(module MATCHES "^lab/")
            set(library holdfast_lab)
        endif()
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:holdfast_${name}>)
        target_link_libraries(${library} PRIVATE ${arg_LINKS})
    else()
        add_library(holdfast_${name} INTERFACE)
        target_include_directories(holdfast_${name} INTERFACE ${view})
    endif()
endfunction()

# Several files of a target are compiled as one: most of the compiler's time goes into headers, and
# into the same templates in each file. Local names of a target's files must therefore differ.
# Tests are small and alike: more of them go into one.
#
# CMake's own batches name their files by absolute paths, which differ from clone to clone: ccache
# would never take a result from another clone.
function(holdfast_unity target)
    if(NOT HOLDFAST_UNITY)
        return()
    endif()
    set(size 12)
    if(target MATCHES "_tests$")
        set(size 24)
    endif()
    set(folder ${PROJECT_BINARY_DIR}/batch)
    get_target_property(sources ${target} SOURCES)
    set(compiled)
    set(content)
    set(in_batch 0)
    set(number 0)
    foreach(source IN LISTS sources)
        get_filename_component(source ${source} ABSOLUTE)
        # A program that brings Boost.JSON's bodies itself must not get those of the library, which it
        # would with anything else that lies in the same object.
        file(STRINGS ${source} has_bodies REGEX "include <boost/json/src.hpp>")
        holdfast_is_planted(${source} is_planted)
        if(is_planted OR has_bodies)
            list(APPEND compiled ${source})
            continue()
        endif()
        file(RELATIVE_PATH path ${folder} ${source})
        string(APPEND content "#include \"${path}\"\n")
        math(EXPR in_batch "${in_batch} + 1")
        if(in_batch EQUAL size)
            holdfast_write_batch(${folder}/${target}_${number}.cpp "${content}" compiled)
            math(EXPR number "${number} + 1")
            set(content)
            set(in_batch 0)
        endif()
    endforeach()
    if(content)
        holdfast_write_batch(${folder}/${target}_${number}.cpp "${content}" compiled)
    endif()
    set_property(TARGET ${target} PROPERTY SOURCES ${compiled})
    # g++ takes local types in all but the first file for those of a header; and it stops to inline
    # in what it takes for a large file, which cost 3 to 6 % of an operation's instructions.
    target_compile_options(${target} PRIVATE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage --param=large-unit-insns=200000>)
endfunction()

function(holdfast_write_batch file content list)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content}")  # leaves an equal file as it is
    set(${list} ${${list}} ${file} PARENT_SCOPE)
endfunction()

# Files in which tests plant defects are replaced one by one when a test is linked, so they are
# compiled alone.
function(holdfast_is_planted source into)
    file(STRINGS ${source} uses_planted REGEX "include \"shell/planted.hpp\"")
    set(${into} ${uses_planted} PARENT_SCOPE)
endfunction()

# Headers are compiled once for all pure modules, and once for all others. The pure ones get nothing
# of Asio, so that a coroutine in them still does not compile.
function(holdfast_precompile module target is_pure)
    if(module STREQUAL "core/error")
        target_precompile_headers(${target} PRIVATE ${HOLDFAST_STD_HEADERS})
    elseif(module STREQUAL "runtime")
        target_precompile_headers(${target} PRIVATE ${HOLDFAST_STD_HEADERS} ${HOLDFAST_ASIO_HEADERS})
    elseif(module MATCHES "^core/" OR is_pure)
        target_precompile_headers(${target} REUSE_FROM holdfast_core_error)
    else()
        target_precompile_headers(${target} REUSE_FROM holdfast_runtime)
    endif()
endfunction()

function(holdfast_place_of module into)
    if(module MATCHES "^lab/")
        set(${into} ${module} PARENT_SCOPE)
    else()
        set(${into} src/${module} PARENT_SCOPE)
    endif()
endfunction()

# The link may dangle: a header that nobody has written yet is as absent as a forbidden one.
function(holdfast_link_into_view original link)
    get_filename_component(folder ${link} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${original} ${link} SYMBOLIC)
endfunction()
