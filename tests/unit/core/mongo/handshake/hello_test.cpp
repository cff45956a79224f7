#include "core/mongo/handshake/hello.hpp"

#include "holdfast/bson/document.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::core::mongo::hello_test {
namespace {

using bson::doc;
using bson::list;

template <class Hello>
bson::document written(const Hello& what)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    write_hello(out, what);
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

TEST(handshake_hello, first_hello_is_legacy_with_hello_ok_and_client)
{
    const auto client = doc("driver", 1);
    EXPECT_EQ(written(handshake_hello{.over_op_msg = false, .client = client}),
              doc("isMaster", 1, "helloOk", true, "backpressure", true, "client", client,
                  "compression", list()));
}

TEST(handshake_hello, all_options_are_written)
{
    const auto client = doc("driver", 1);
    const auto first = doc("saslStart", 1);
    constexpr std::array compressors = {wire_compressor::zstd, wire_compressor::snappy};
    const handshake_hello what{.command = hello_command::hello,
                               .load_balanced = true,
                               .client = client,
                               .compressors = compressors,
                               .api = {"1", true, false},
                               .supported_mechanisms_of = "admin.user",
                               .speculative_authenticate = first.view()};
    EXPECT_EQ(written(what),
              doc("hello", 1, "loadBalanced", true, "backpressure", true, "client", client,
                  "compression", list("zstd", "snappy"), "saslSupportedMechs", "admin.user",
                  "speculativeAuthenticate", first, "apiVersion", "1", "apiStrict", true,
                  "apiDeprecationErrors", false, "$db", "admin"));
}

TEST(handshake_hello, backpressure_true_is_sent_with_either_command)
{
    VERIFIES("BP-046");
    for (const auto command : {hello_command::hello, hello_command::legacy}) {
        const auto hello = written(handshake_hello{.command = command});
        const bson::element flag = hello["backpressure"];
        ASSERT_EQ(flag.type(), bson::type::boolean);
        EXPECT_TRUE(flag.as_bool());
    }
}

TEST(handshake_hello, backpressure_2_is_sent_under_the_upstream_profile)
{
    const auto hello = written(handshake_hello{.backpressure = backpressure_flag::version_two});
    EXPECT_EQ(hello.get<std::string>("backpressure").value(), "2");
}

TEST(handshake_hello, monitor_hello_omits_sasl_supported_mechs)
{
    const auto hello = written(handshake_hello{});
    EXPECT_FALSE(hello["saslSupportedMechs"]);
    EXPECT_FALSE(hello["speculativeAuthenticate"]);
}

TEST(first_hello, legacy_hello_unless_server_api_or_load_balanced)
{
    EXPECT_EQ(first_hello({}, false), hello_command::legacy);
    EXPECT_EQ(first_hello({}, true), hello_command::hello);
    EXPECT_EQ(first_hello({.version = "1"}, false), hello_command::hello);
}

TEST(monitor_hello, contains_only_the_command_and_db)
{
    EXPECT_EQ(written(monitor_hello{}), doc("hello", 1, "$db", "admin"));
    EXPECT_EQ(written(monitor_hello{.command = hello_command::legacy}),
              doc("isMaster", 1, "helloOk", true, "$db", "admin"));
}

TEST(monitor_hello, topology_version_and_max_await_time_are_sent)
{
    using namespace std::chrono_literals;
    const auto version = doc("processId", bson::object_id{}, "counter", std::int64_t{5});
    const auto hello = written(monitor_hello{
        .api = {.version = "1"}, .topology_version = version.view(), .max_await_time = 10s});
    EXPECT_EQ(hello, doc("hello", 1, "topologyVersion", version, "maxAwaitTimeMS",
                         std::int64_t{10000}, "apiVersion", "1", "$db", "admin"));
}

}  // namespace
}  // namespace holdfast::core::mongo::hello_test
