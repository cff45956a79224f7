#include "core/mongo/handshake/connection_description.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/errc.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::connection_description_test {
namespace {

using bson::doc;
using bson::list;
using namespace std::chrono_literals;

TEST(connection_description, limits_are_read_from_the_hello_reply)
{
    VERIFIES("SD-197");
    const auto read = parse_hello_reply(doc("ok", 1, "minWireVersion", 2, "maxWireVersion", 21,
                                            "maxBsonObjectSize", 100, "maxMessageSizeBytes", 200,
                                            "maxWriteBatchSize", 3))
                          .value();
    EXPECT_EQ(read.min_wire_version, 2);
    EXPECT_EQ(read.max_wire_version, 21);
    EXPECT_EQ(read.max_bson_object_size, 100);
    EXPECT_EQ(read.max_message_size, 200);
    EXPECT_EQ(read.max_write_batch_size, 3);
}

TEST(connection_description, absent_null_or_invalid_limits_get_defaults)
{
    const bson::null nothing;
    for (const auto& reply :
         {doc("ok", 1), doc("ok", 1.0, "maxBsonObjectSize", nothing, "serviceId", nothing),
          doc("ok", true, "maxBsonObjectSize", 0, "maxMessageSizeBytes", -1, "maxWriteBatchSize",
              0)}) {
        const auto read = parse_hello_reply(reply).value();
        EXPECT_EQ(read.max_wire_version, 0);
        EXPECT_EQ(read.max_bson_object_size, 16'777'216);
        EXPECT_EQ(read.max_message_size, 48'000'000);
        EXPECT_EQ(read.max_write_batch_size, 100'000);
        EXPECT_FALSE(read.hello_ok);
        EXPECT_FALSE(read.is_arbiter);
        EXPECT_FALSE(read.logical_session_timeout);
        EXPECT_FALSE(read.server_connection_id);
        EXPECT_FALSE(read.service_id);
        EXPECT_FALSE(read.supported_mechanisms);
        EXPECT_FALSE(read.speculative_reply);
        EXPECT_TRUE(read.compressors.empty());
    }
}

TEST(connection_description, optional_hello_fields_are_read)
{
    const auto read = parse_hello_reply(
                          doc("helloOk", true, "arbiterOnly", true, "logicalSessionTimeoutMinutes",
                              30, "connectionId", 3'000'000'000.0, "compression",
                              list("zlib", "lz4", 5, "snappy"), "saslSupportedMechs",
                              list("SCRAM-SHA-256", "WHATEVER", 5), "speculativeAuthenticate",
                              doc("done", false), "ok", std::int64_t{1}))
                          .value();
    EXPECT_TRUE(read.hello_ok);
    EXPECT_TRUE(read.is_arbiter);
    EXPECT_EQ(read.logical_session_timeout, 30min);
    EXPECT_EQ(read.server_connection_id, 3'000'000'000);
    EXPECT_EQ(read.compressors, (std::vector{wire_compressor::zlib, wire_compressor::snappy}));
    EXPECT_EQ(read.supported_mechanisms, (std::vector<std::string>{"SCRAM-SHA-256", "WHATEVER"}));
    EXPECT_EQ(read.speculative_reply, doc("done", false));
}

TEST(connection_description, load_balanced_hello_requires_a_service_id)
{
    VERIFIES("SD-080");
    const bson::object_id id{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    EXPECT_EQ(parse_hello_reply(doc("ok", 1, "serviceId", id), true).value().service_id, id);
    EXPECT_EQ(parse_hello_reply(doc("ok", 1), true).error().code(), errc::hello_failed);
}

TEST(connection_description, hello_reply_with_ok_0_is_hello_failed)
{
    for (const auto& reply : {doc("ok", 0), doc("ok", 0.0), doc("ok", false), doc(), doc("ok", 2),
                              doc("ok", "1"), doc("ok", bson::null{})})
        EXPECT_EQ(parse_hello_reply(reply).error().code(), errc::hello_failed);

    const auto refused = parse_hello_reply(
        doc("ok", 0, "code", 11600, "errmsg", "going down", "errorLabels",
            list("SystemOverloadedError", 5, "Another", "RetryableError")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().context("code"), "11600");
    EXPECT_TRUE(refused.error().has_label("SystemOverloadedError"));
    EXPECT_TRUE(refused.error().has_label("RetryableError"));
    EXPECT_EQ(refused.error().labels().size(), 2U);
}

TEST(connection_description, hello_field_of_the_wrong_type_is_refused)
{
    const auto wrong = [](const char* key, const auto& value) {
        const auto read = parse_hello_reply(doc("ok", 1, key, value));
        ASSERT_FALSE(read) << key;
        EXPECT_EQ(read.error().code(), bson::errc::wrong_type) << key;
        EXPECT_NE(read.error().message().find(key), std::string::npos) << key;
    };
    wrong("maxWireVersion", "21");
    wrong("maxBsonObjectSize", true);
    wrong("helloOk", 1);
    wrong("serviceId", "x");
    wrong("compression", "zlib");
    wrong("saslSupportedMechs", 5);
    wrong("speculativeAuthenticate", list());
}

TEST(connection_description, invalid_utf8_anywhere_in_the_hello_is_refused)
{
    const auto read = parse_hello_reply(
        doc("ok", 1, "elsewhere", doc("bad", bson::unchecked_text{"\xFF"})));
    EXPECT_EQ(read.error().code(), bson::errc::invalid_utf8);
}

}  // namespace
}  // namespace holdfast::core::mongo::connection_description_test
