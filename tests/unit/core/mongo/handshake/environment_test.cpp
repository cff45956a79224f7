#include "core/mongo/handshake/environment.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::environment_test {
namespace {

struct row {
    const char* why;
    environment_variables variables;
    client_environment expected;
};

TEST(environment, faas_provider_and_its_details_are_detected)
{
    const row table[] = {
        {"AWS",
         {{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"},
          {"AWS_REGION", "us-east-2"},
          {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024"}},
         {.name = "aws.lambda", .memory_mb = 1024, .region = "us-east-2"}},
        {"AWS by its API", {{"AWS_LAMBDA_RUNTIME_API", "x"}}, {.name = "aws.lambda"}},
        {"Azure", {{"FUNCTIONS_WORKER_RUNTIME", "node"}}, {.name = "azure.func"}},
        {"Google",
         {{"K_SERVICE", "servicename"},
          {"FUNCTION_MEMORY_MB", "1024"},
          {"FUNCTION_TIMEOUT_SEC", "60"},
          {"FUNCTION_REGION", "us-central1"}},
         {.name = "gcp.func", .timeout_sec = 60, .memory_mb = 1024, .region = "us-central1"}},
        {"Google by its function", {{"FUNCTION_NAME", "f"}}, {.name = "gcp.func"}},
        {"Vercel",
         {{"VERCEL", "1"}, {"VERCEL_REGION", "cdg1"}, {"AWS_REGION", "us-east-2"}},
         {.name = "vercel", .region = "cdg1"}},
        {"Vercel runs on AWS",
         {{"VERCEL", "1"}, {"AWS_EXECUTION_ENV", "AWS_Lambda_nodejs"}},
         {.name = "vercel"}},
    };
    for (const row& r : table) {
        EXPECT_EQ(detect_environment(r.variables, false), r.expected) << r.why;
        EXPECT_TRUE(is_function_as_a_service(r.expected)) << r.why;
    }
}

TEST(environment, conflicting_or_partial_providers_are_omitted)
{
    const row table[] = {
        {"nothing", {}, {}},
        {"AWS and Azure",
         {{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"}, {"FUNCTIONS_WORKER_RUNTIME", "node"}},
         {}},
        {"AWS and Google", {{"AWS_LAMBDA_RUNTIME_API", "x"}, {"K_SERVICE", "s"}}, {}},
        {"Azure and Google", {{"FUNCTIONS_WORKER_RUNTIME", "node"}, {"K_SERVICE", "s"}}, {}},
        {"Azure and Vercel", {{"FUNCTIONS_WORKER_RUNTIME", "node"}, {"VERCEL", "1"}}, {}},
        {"Vercel, AWS and Google",
         {{"VERCEL", "1"}, {"AWS_LAMBDA_RUNTIME_API", "x"}, {"K_SERVICE", "s"}},
         {}},
        {"not Lambda", {{"AWS_EXECUTION_ENV", "EC2"}, {"AWS_REGION", "us-east-2"}}, {}},
        {"set to nothing", {{"FUNCTIONS_WORKER_RUNTIME", ""}, {"VERCEL", ""}}, {}},
    };
    for (const row& r : table) {
        EXPECT_EQ(detect_environment(r.variables, false), r.expected) << r.why;
        EXPECT_FALSE(is_function_as_a_service(detect_environment(r.variables, false))) << r.why;
    }
}

TEST(environment, malformed_values_are_omitted)
{
    for (const char* size : {"big", "", "12x", " 12", "1.5", "2147483648", "+5"}) {
        const auto where = detect_environment(
            {{"AWS_LAMBDA_RUNTIME_API", "x"}, {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", size}}, false);
        EXPECT_EQ(where, (client_environment{.name = "aws.lambda"})) << size;
    }
    EXPECT_EQ(detect_environment({{"VERCEL", "1"}, {"VERCEL_REGION", "\xFF"}}, false).region, "");
}

TEST(environment, container_is_reported_beside_a_faas_provider)
{
    const client_environment both = detect_environment(
        {{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"}, {"KUBERNETES_SERVICE_HOST", "1"}}, true);
    EXPECT_EQ(both, (client_environment{.name = "aws.lambda",
                                        .container_runtime = "docker",
                                        .container_orchestrator = "kubernetes"}));
    EXPECT_EQ(detect_environment({{"KUBERNETES_SERVICE_HOST", ""}}, false), client_environment{});
    EXPECT_FALSE(is_function_as_a_service(detect_environment({}, true)));
}

}  // namespace
}  // namespace holdfast::core::mongo::environment_test
