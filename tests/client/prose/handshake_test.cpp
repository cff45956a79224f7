#include "client/traffic.hpp"
#include "support/canary.hpp"

#include <cstdlib>
#include <map>

/// The prose tests of the specification "MongoDB Handshake" that are about the environment of the
/// process and about logins; metadata that wrapping libraries add: tests/client/metadata_test.cpp.
namespace holdfast::proof::handshake_test {
namespace {

using variables = std::map<std::string, std::string>;

constexpr const char* looked_at[] = {
    "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_RUNTIME_API",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_REGION",
    "K_SERVICE",
    "FUNCTION_NAME",
    "FUNCTIONS_WORKER_RUNTIME",
    "FUNCTION_MEMORY_MB",
    "FUNCTION_TIMEOUT_SEC",
    "FUNCTION_REGION",
    "VERCEL",
    "VERCEL_REGION",
    "KUBERNETES_SERVICE_HOST",
};

/// These variables and no others, for as long as it lives.
class environment {
public:
    explicit environment(const variables& those)
    {
        for (const char* const name : looked_at) {
            if (const char* const value = std::getenv(name))
                before_.emplace(name, value);
            ::unsetenv(name);
        }
        for (const auto& [name, value] : those)
            ::setenv(name.c_str(), value.c_str(), 1);
    }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment()
    {
        for (const char* const name : looked_at)
            ::unsetenv(name);
        for (const auto& [name, value] : before_)
            ::setenv(name.c_str(), value.c_str(), 1);
    }

private:
    variables before_;
};

/// What is said of the environment by a client that connects and runs a command.
bson::document metadata_in(const variables& those)
{
    const environment around{those};
    scene s{{.hosts = {"a"}}};
    s.connect();
    const operation& op = s.run(bson::doc("hello", 1));
    EXPECT_TRUE(op.good()) << op.explain();
    const bson::document hello = s.server("a").first_hello(1);
    EXPECT_LE(hello["client"].as_document().bytes().size(), 512U);
    bson::document received;
    if (const bson::element found = hello["client"].as_document()["env"])
        received = bson::document{found.as_document()};
    expect_clean(s);
    return received;
}

std::string name_in(const bson::document& env)
{
    return env.get<std::string>("name").value_or("none");
}

TEST(prose_handshake, 1_valid_aws_environment_is_sent)
{
    const auto received = metadata_in({{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"},
                               {"AWS_REGION", "us-east-2"},
                               {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024"}});
    EXPECT_EQ(name_in(received), "aws.lambda");
    EXPECT_EQ(received.get<std::string>("region").value_or(""), "us-east-2");
    EXPECT_EQ(received.get<std::int32_t>("memory_mb").value_or(0), 1024);
}

TEST(prose_handshake, 2_valid_azure_environment_is_sent)
{
    EXPECT_EQ(name_in(metadata_in({{"FUNCTIONS_WORKER_RUNTIME", "node"}})), "azure.func");
}

TEST(prose_handshake, 3_valid_gcp_environment_is_sent)
{
    const auto received = metadata_in({{"K_SERVICE", "servicename"},
                               {"FUNCTION_MEMORY_MB", "1024"},
                               {"FUNCTION_TIMEOUT_SEC", "60"},
                               {"FUNCTION_REGION", "us-central1"}});
    EXPECT_EQ(name_in(received), "gcp.func");
    EXPECT_EQ(received.get<std::int32_t>("memory_mb").value_or(0), 1024);
    EXPECT_EQ(received.get<std::int32_t>("timeout_sec").value_or(0), 60);
    EXPECT_EQ(received.get<std::string>("region").value_or(""), "us-central1");
}

TEST(prose_handshake, 4_valid_vercel_environment_is_sent)
{
    const auto received = metadata_in({{"VERCEL", "1"}, {"VERCEL_REGION", "cdg1"}});
    EXPECT_EQ(name_in(received), "vercel");
    EXPECT_EQ(received.get<std::string>("region").value_or(""), "cdg1");
}

TEST(prose_handshake, 5_several_providers_send_no_environment)
{
    const auto received = metadata_in(
        {{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"}, {"FUNCTIONS_WORKER_RUNTIME", "node"}});
    EXPECT_EQ(name_in(received), "none");
}

TEST(prose_handshake, 6_too_long_region_is_omitted)
{
    const auto received = metadata_in(
        {{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"}, {"AWS_REGION", std::string(512, 'a')}});
    EXPECT_EQ(name_in(received), "aws.lambda");
    EXPECT_FALSE(received["region"]);
}

TEST(prose_handshake, 7_invalid_memory_size_is_omitted)
{
    const auto received = metadata_in(
        {{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"}, {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "big"}});
    EXPECT_EQ(name_in(received), "aws.lambda");
    EXPECT_FALSE(received["memory_mb"]);
}

TEST(prose_handshake, 8_aws_execution_env_without_lambda_sends_no_environment)
{
    EXPECT_EQ(name_in(metadata_in({{"AWS_EXECUTION_ENV", "EC2"}})), "none");
}

TEST(prose_handshake, 9_container_and_provider_are_both_sent)
{
    const auto received = metadata_in({{"AWS_EXECUTION_ENV", "AWS_Lambda_java8"},
                               {"AWS_REGION", "us-east-2"},
                               {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024"},
                               {"KUBERNETES_SERVICE_HOST", "1"}});
    EXPECT_EQ(name_in(received), "aws.lambda");
    EXPECT_EQ(received.get<std::string>("container.orchestrator").value_or(""), "kubernetes");
}

TEST(prose_handshake, unknown_sasl_supported_mech_is_ignored)
{
    scene s{{.hosts = {"a"}}};
    const auto door = std::make_shared<scripted_login>();
    door->guard(s.server("a"), [&s](const scripted_command&) {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        const bson::document hello = s.set.hello_of("a:27017");
        out.merge(hello.view());
        out.add("saslSupportedMechs",
                bson::list("SCRAM-SHA-256", "A_MECHANISM_OF_THE_FUTURE", "SCRAM-SHA-1"));
        (void)out.finish().value();
        return scripted_reply{bson::document::adopt(std::move(bytes))};
    });
    s.connect_to(std::string{"mongodb://"} + canary::user + ":" + canary::password +
                 "@a/?replicaSet=rs");
    const operation& op = s.run(ping_command());
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(door->logins(), 1U);
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::handshake_test
