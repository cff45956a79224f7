# holdfast_module(core/bson [PURE] [USES core/x ...] [PUBLIC error.hpp bson ...] [LINKS spdlog::spdlog ...])
#
# One folder under src/, not counting its sub-folders, becomes one target: core/bson is called
# holdfast_core_bson. The lab's modules lie under lab/ instead, and go into a library of their own. Its include path is a single directory of symbolic links made for it alone: to
# its own headers, to those of the modules it names with USES, and to the part of include/holdfast
# it may see. Nothing else can be found there, so a wrong #include does not compile.
#
# USES is not inherited: a module names every module whose headers it reaches.
# PURE marks a module of the lab that, like core, takes values and returns values.
# PUBLIC says which public headers it may see. By default core sees those without Asio, and all
# others see everything.
# LINKS names libraries that only the bodies of this module use; no header may need them.

# Public headers that a pure module may include.
set(HOLDFAST_CORE_MAY_SEE error.hpp id.hpp options.hpp bson)

# Modules whose files have local names in common.
set(HOLDFAST_NO_UNITY core/bson core/mongo/operation core/mongo/settings core/mongo/uri
    core/mongo/handshake core/mongo/wire core/couchbase/retry api/mongo net/tls
    lab/mongo/command lab/mongo/expression lab/mongo/aggregate lab/mongo/query
    lab/mongo/update lab/mongo/serve lab/mongo/set)

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
        # Several files of a module are compiled as one: most of the compiler's time goes into headers.
        if(HOLDFAST_UNITY AND NOT module IN_LIST HOLDFAST_NO_UNITY)
            set_target_properties(holdfast_${name} PROPERTIES
                UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
            # g++ takes local types in all but the first file for those of a header.
            target_compile_options(holdfast_${name} PRIVATE
                $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
        endif()
        holdfast_keep_apart(${sources})
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

# Files in which tests plant defects are replaced one by one when a test is linked.
function(holdfast_keep_apart)
    foreach(source IN LISTS ARGN)
        file(STRINGS ${source} uses_planted REGEX "include \"shell/planted.hpp\"")
        if(uses_planted)
            set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
    endforeach()
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
