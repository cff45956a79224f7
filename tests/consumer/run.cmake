# Installs Holdfast into a scratch prefix, then configures, builds and runs the consumer against it.
# The consumer is built from nothing each time: a package found by an old cache proves nothing.
file(REMOVE_RECURSE ${SCRATCH})

function(run)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output
        RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(NOTICE "${output}")
        message(FATAL_ERROR "failed: ${ARGN}")
    endif()
endfunction()

run(${CMAKE_COMMAND} --install ${HOLDFAST_BUILD} --prefix ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/build -G Ninja
    -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix -D ASIO=${ASIO}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -D CMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)

# What the shared object exports is its own.
execute_process(COMMAND nm -D --defined-only ${SCRATCH}/build/libplugin.so
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(symbols MATCHES "[TW] _ZN[A-Z]*8holdfast5mongo4sync6client")
    message(FATAL_ERROR "the shared object exports symbols of libholdfast.a")
endif()
