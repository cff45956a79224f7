#include "api/mongo/process_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace holdfast::api {
namespace {

/// Those that detect_environment() looks at, and none that might hold a secret.
constexpr const char* looked_at[] = {
    "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_RUNTIME_API",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_REGION",
    "FUNCTIONS_WORKER_RUNTIME",
    "K_SERVICE",
    "FUNCTION_NAME",
    "FUNCTION_MEMORY_MB",
    "FUNCTION_TIMEOUT_SEC",
    "FUNCTION_REGION",
    "VERCEL",
    "VERCEL_REGION",
    "KUBERNETES_SERVICE_HOST",
};

core::mongo::environment_variables variables()
{
    core::mongo::environment_variables found;
    for (const char* const name : looked_at) {
        if (const char* const value = std::getenv(name))
            found.emplace(name, value);
    }
    return found;
}

}  // namespace

core::mongo::client_metadata describe_process(const std::optional<std::string>& application)
{
    core::mongo::client_metadata facts;
    facts.application = application.value_or("");
    facts.driver_version = HOLDFAST_VERSION;
    if (utsname system{}; ::uname(&system) == 0) {
        facts.os_type = system.sysname;
        facts.os_architecture = system.machine;
        facts.os_version = system.release;
    }
    facts.platform = "C++20, " HOLDFAST_COMPILER;
    facts.environment = core::mongo::detect_environment(variables(),
                                                        ::access("/.dockerenv", F_OK) == 0);
    return facts;
}

}  // namespace holdfast::api
