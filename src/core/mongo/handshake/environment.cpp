#include "core/mongo/handshake/environment.hpp"

#include "holdfast/bson/validate.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace holdfast::core::mongo {

namespace {

/// A variable that is set to nothing counts as absent.
std::string_view value_of(const environment_variables& variables, std::string_view name)
{
    const auto found = variables.find(name);
    return found == variables.end() ? std::string_view{} : std::string_view{found->second};
}

std::string text_in(const environment_variables& variables, std::string_view name)
{
    const std::string_view text = value_of(variables, name);
    return bson::is_utf8(text) ? std::string{text} : std::string{};
}

std::optional<std::int32_t> number_in(const environment_variables& variables, std::string_view name)
{
    const std::string_view text = value_of(variables, name);
    std::int32_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || failed != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

/// The one provider that the variables speak of. Vercel runs on Lambda, so its variables win over
/// Amazon's; any other two contradict each other, and then none is named.
std::string_view provider(const environment_variables& variables)
{
    const auto has = [&](std::string_view name) { return !value_of(variables, name).empty(); };
    const bool aws = value_of(variables, "AWS_EXECUTION_ENV").starts_with("AWS_Lambda_") ||
                     has("AWS_LAMBDA_RUNTIME_API");
    const bool azure = has("FUNCTIONS_WORKER_RUNTIME");
    const bool gcp = has("K_SERVICE") || has("FUNCTION_NAME");
    const bool vercel = has("VERCEL");

    const int named = int{aws && !vercel} + int{azure} + int{gcp} + int{vercel};
    if (named != 1)
        return {};
    return vercel ? "vercel" : aws ? "aws.lambda" : azure ? "azure.func" : "gcp.func";
}

}  // namespace

client_environment detect_environment(const environment_variables& variables, bool has_dockerenv)
{
    client_environment where;
    where.name = provider(variables);
    if (where.name == "aws.lambda") {
        where.region = text_in(variables, "AWS_REGION");
        where.memory_mb = number_in(variables, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE");
    } else if (where.name == "gcp.func") {
        where.region = text_in(variables, "FUNCTION_REGION");
        where.memory_mb = number_in(variables, "FUNCTION_MEMORY_MB");
        where.timeout_sec = number_in(variables, "FUNCTION_TIMEOUT_SEC");
    } else if (where.name == "vercel") {
        where.region = text_in(variables, "VERCEL_REGION");
    }
    if (has_dockerenv)
        where.container_runtime = "docker";
    if (!value_of(variables, "KUBERNETES_SERVICE_HOST").empty())
        where.container_orchestrator = "kubernetes";
    return where;
}

}  // namespace holdfast::core::mongo
