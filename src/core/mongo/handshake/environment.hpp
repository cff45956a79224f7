#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace holdfast::core::mongo {

/// The variables of the process as the runtime found them.
using environment_variables = std::map<std::string, std::string, std::less<>>;

/// `client.env` of the handshake: where the client runs. Empty members are unknown.
struct client_environment {
    std::string name = {};  // "aws.lambda", "azure.func", "gcp.func", "vercel"
    std::optional<std::int32_t> timeout_sec = {};
    std::optional<std::int32_t> memory_mb = {};
    std::string region = {};
    std::string container_runtime = {};       // "docker"
    std::string container_orchestrator = {};  // "kubernetes"
    friend bool operator==(const client_environment&, const client_environment&) = default;
};

/// `has_dockerenv`: whether the file /.dockerenv exists. A variable that makes no sense is ignored.
client_environment detect_environment(const environment_variables& variables, bool has_dockerenv);

/// Functions run for a moment and freeze in between, where a streaming monitor does not work.
inline bool is_function_as_a_service(const client_environment& where) noexcept
{
    return !where.name.empty();
}

}  // namespace holdfast::core::mongo
