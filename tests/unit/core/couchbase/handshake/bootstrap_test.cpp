#include "core/couchbase/handshake/bootstrap.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "support/kv_bootstrap.hpp"
#include "support/octets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::bootstrap_test {
namespace {

using enum kv_opcode;
using holdfast::couchbase::errc;
using proof::kv_bootstrap;
using proof::kv_sha512;
using opcodes = std::vector<kv_opcode>;

bootstrap_options for_bucket(std::string bucket)
{
    auto options = kv_bootstrap::with_password();
    options.bucket = std::move(bucket);
    return options;
}

TEST(bootstrap, hello_error_map_and_login_start_go_in_one_flush)
{
    const kv_bootstrap talk{kv_bootstrap::with_password()};
    EXPECT_TRUE(std::holds_alternative<send_and_read>(talk.action));
    EXPECT_EQ(talk.opcodes(), (opcodes{hello, get_error_map, sasl_list_mechanisms, sasl_auth}));
    EXPECT_EQ(talk.flushed[0].key, R"({"a":"holdfast/test","i":"1/2"})");
    EXPECT_EQ(talk.flushed[0].value.size(), 2 * default_features().size());
    EXPECT_EQ(talk.flushed[1].value, (std::string{'\0', '\2'}));
    EXPECT_EQ(talk.flushed[3].key, "SCRAM-SHA512");
    EXPECT_EQ(talk.flushed[3].value, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
    for (const auto& each : talk.flushed)
        EXPECT_LT(each.opaque, bootstrap::first_operation);
}

TEST(bootstrap, login_then_bucket_and_configuration)
{
    kv_bootstrap talk{for_bucket("travel")};
    talk.usual_start();
    EXPECT_TRUE(std::holds_alternative<read_next>(talk.action));
    talk.reply(sasl_auth, kv_status::auth_continue, kv_sha512.server_first);
    ASSERT_EQ(talk.opcodes(), opcodes{sasl_step});
    EXPECT_EQ(talk.slices, 8);  // 4,096 iterations, 512 at a time
    EXPECT_EQ(talk.flushed[0].key, "SCRAM-SHA512");
    EXPECT_TRUE(talk.flushed[0].value.starts_with("c=biws,r=rOprNGfwEbeRWgbNEkqO%"));
    talk.ok(sasl_step, kv_sha512.server_final);
    ASSERT_EQ(talk.opcodes(), (opcodes{select_bucket, get_cluster_config}));
    EXPECT_EQ(talk.flushed[0].key, "travel");
    EXPECT_EQ(talk.flushed[1].extras, "");
    talk.ok(select_bucket);
    EXPECT_TRUE(std::holds_alternative<read_next>(talk.action));
    talk.ok(get_cluster_config, R"({"rev":1})");

    const bootstrapped& done = talk.done();
    EXPECT_TRUE(done.features.has(kv_feature::json) && done.features.has(kv_feature::collections));
    EXPECT_FALSE(done.features.has(kv_feature::snappy));
    EXPECT_EQ(done.error_map.value().revision(), 1);
    EXPECT_EQ(done.config, R"({"rev":1})");
    EXPECT_EQ(done.config_status, kv_status::success);
    EXPECT_EQ(done.mechanism, sasl_mechanism::scram_sha512);
    EXPECT_EQ(done.keys.value().iterations, 4096);
}

/// A server answers SELECT_BUCKET with "not supported" while other commands are in flight.
TEST(bootstrap, bucket_is_selected_only_after_all_other_replies)
{
    kv_bootstrap talk{for_bucket("travel")};
    talk.ok(sasl_list_mechanisms, "SCRAM-SHA512").scram(kv_sha512);
    EXPECT_TRUE(std::holds_alternative<read_next>(talk.action));
    EXPECT_TRUE(talk.flushed.empty());
    talk.ok(hello);
    EXPECT_TRUE(talk.flushed.empty());
    talk.ok(get_error_map, "{}");
    EXPECT_EQ(talk.opcodes(), (opcodes{select_bucket, get_cluster_config}));
}

TEST(bootstrap, keys_of_an_earlier_login_are_not_computed_again)
{
    kv_bootstrap first{kv_bootstrap::with_password()};
    first.usual_start().scram(kv_sha512).ok(get_cluster_config, "{}");
    auto options = kv_bootstrap::with_password();
    std::get<password_credential>(options.credential).known = {first.done().keys.value()};
    kv_bootstrap second{std::move(options)};
    second.usual_start().scram(kv_sha512).ok(get_cluster_config, "{}");
    EXPECT_EQ(second.slices, 0);
    EXPECT_EQ(second.done().mechanism, sasl_mechanism::scram_sha512);
}

TEST(bootstrap, bucket_failures_name_the_bucket)
{
    struct row {
        kv_status status;
        bootstrap_problem problem;
        errc code;
        std::string_view message;
    };
    for (const row& r : {
             row{kv_status::no_access, bootstrap_problem::bucket_no_access,
                 errc::authentication_failure,
                 "the bucket \"travel\" does not exist, or the user may not use it"},
             row{kv_status::not_found, bootstrap_problem::bucket_not_found, errc::bucket_not_found,
                 "the bucket \"travel\" is not on this node"},
             row{kv_status::not_supported, bootstrap_problem::refused, errc::unsupported_operation,
                 "the bucket \"travel\" could not be selected: status 0x83: not supported"},
             row{kv_status::temporary_failure, bootstrap_problem::refused, errc::temporary_failure,
                 "the bucket \"travel\" could not be selected: status 0x86: temporary failure"},
         }) {
        kv_bootstrap talk{for_bucket("travel")};
        talk.usual_start().scram(kv_sha512).reply(select_bucket, r.status);
        ASSERT_TRUE(talk.has_failed());
        EXPECT_EQ(talk.failure().problem, r.problem);
        EXPECT_EQ(talk.failure().step, select_bucket);
        EXPECT_EQ(talk.failure().status, r.status);
        EXPECT_EQ(talk.failure().why.code(), r.code);
        EXPECT_EQ(talk.failure().why.message(), r.message);
    }
}

TEST(bootstrap, server_without_a_global_configuration_is_usable)
{
    for (const kv_status status :
         {kv_status::no_bucket, kv_status::not_supported, kv_status::unknown_command}) {
        kv_bootstrap talk{kv_bootstrap::with_password()};
        talk.usual_start().scram(kv_sha512);
        EXPECT_EQ(talk.opcodes(), opcodes{get_cluster_config});
        talk.reply(get_cluster_config, status, "words");
        EXPECT_EQ(talk.done().config, "");
        EXPECT_EQ(talk.done().config_status, status);
    }
}

TEST(bootstrap, configuration_is_fetched_only_if_asked_for)
{
    auto options = for_bucket("travel");
    options.fetch_config = false;
    kv_bootstrap talk{options};
    talk.usual_start().scram(kv_sha512);
    EXPECT_EQ(talk.opcodes(), opcodes{select_bucket});
    talk.ok(select_bucket);
    EXPECT_FALSE(talk.done().config_status);
    options.bucket.clear();
    kv_bootstrap neither{options};
    neither.usual_start().scram(kv_sha512);
    EXPECT_EQ(neither.done().mechanism, sasl_mechanism::scram_sha512);
}

TEST(bootstrap, known_version_is_sent_only_to_servers_that_understand_it)
{
    auto options = kv_bootstrap::with_password();
    options.known_config = config_version{.epoch = 1, .revision = 42};
    for (const bool understands : {true, false}) {
        kv_bootstrap talk{options};
        talk.ok(hello, understands ? std::string_view{"\x00\x1d", 2} : std::string_view{});
        talk.ok(get_error_map, "{}").ok(sasl_list_mechanisms).scram(kv_sha512);
        const std::string extras = talk.flushed.at(0).extras;
        EXPECT_EQ(extras, understands ? std::string("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x2a", 16)
                                      : std::string{});
    }
}

TEST(bootstrap, old_server_without_hello_has_no_features)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.reply(hello, kv_status::unknown_command).reply(get_error_map, kv_status::unknown_command);
    talk.ok(sasl_list_mechanisms, "SCRAM-SHA512").scram(kv_sha512).ok(get_cluster_config, "{}");
    EXPECT_TRUE(talk.done().features.empty());
    EXPECT_FALSE(talk.done().error_map);
    EXPECT_FALSE(talk.done().error_map_defect);

    kv_bootstrap busy{kv_bootstrap::with_password()};
    busy.reply(hello, kv_status::busy);
    EXPECT_EQ(busy.failure().problem, bootstrap_problem::refused);
    EXPECT_EQ(busy.failure().why.message(), "the server refused HELLO: status 0x85: busy");
}

TEST(bootstrap, features_that_were_not_asked_for_are_not_agreed_on)
{
    auto options = kv_bootstrap::with_password();
    options.features = {kv_feature::json};
    kv_bootstrap talk{std::move(options)};
    talk.usual_start().scram(kv_sha512).ok(get_cluster_config, "{}");
    EXPECT_TRUE(talk.done().features.has(kv_feature::json));
    EXPECT_FALSE(talk.done().features.has(kv_feature::collections));
}

TEST(bootstrap, unreadable_error_map_is_reported_and_no_failure)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.ok(hello).ok(get_error_map, "{]").ok(sasl_list_mechanisms).scram(kv_sha512);
    talk.ok(get_cluster_config, "{}");
    EXPECT_FALSE(talk.done().error_map);
    ASSERT_TRUE(talk.done().error_map_defect);
    EXPECT_EQ(talk.done().error_map_defect->code(), errc::decoding_failure);
}

TEST(bootstrap, frames_that_answer_nothing_are_a_protocol_violation)
{
    const auto violates = [](const reply_frame& reply, std::string_view message) {
        kv_bootstrap talk{kv_bootstrap::with_password()};
        talk.give(reply);
        ASSERT_TRUE(talk.has_failed()) << message;
        EXPECT_EQ(talk.failure().problem, bootstrap_problem::protocol_violation);
        EXPECT_EQ(talk.failure().why.code(), errc::decoding_failure);
        EXPECT_EQ(talk.failure().why.message(), message);
    };
    violates({.opcode = hello, .opaque = 0}, "HELLO: the server sent a frame that answers nothing");
    violates({.opcode = get, .opaque = 99},
             "bootstrap: the server sent a frame that answers nothing");
    violates({.opcode = get, .opaque = 1}, "HELLO: the server answered with another command");
    violates({.opcode = hello, .opaque = 1, .datatype = kv_datatype{0x08}},
             "HELLO: the answer has a datatype that was not agreed on");
    violates({.opcode = hello, .opaque = 1, .value = as_octets("abc")},
             "HELLO: a list of features has 2 bytes for each, here are 3");
    violates({.opcode = hello, .opaque = 1, .datatype = kv_datatype::snappy},
             "HELLO: compressed value: it does not begin with a size");

    kv_bootstrap twice{kv_bootstrap::with_password()};
    twice.ok(hello).ok(hello);
    EXPECT_EQ(twice.failure().problem, bootstrap_problem::protocol_violation);

    kv_bootstrap request{kv_bootstrap::with_password()};
    bson::byte_buffer bytes;
    write_request(bytes, {.opcode = hello, .opaque = 1}).value();
    request.give_bytes(bytes.bytes());
    EXPECT_EQ(request.failure().problem, bootstrap_problem::protocol_violation);
}

TEST(bootstrap, datatype_is_held_against_what_hello_agreed_on)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.ok(hello).reply(get_error_map, kv_status::success, "{}", kv_datatype::json);
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::protocol_violation);
}

TEST(bootstrap, requests_of_the_server_change_nothing)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    bson::byte_buffer bytes;
    write_server_request(bytes, {.key = "travel", .value = as_octets("{}")}).value();
    talk.give_bytes(bytes.bytes());
    EXPECT_TRUE(std::holds_alternative<read_next>(talk.action));
    talk.usual_start().scram(kv_sha512).ok(get_cluster_config, "{}");
    EXPECT_EQ(talk.done().mechanism, sasl_mechanism::scram_sha512);
}

TEST(bootstrap, finished_bootstrap_sends_nothing)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.usual_start().reply(sasl_auth, kv_status::auth_error);
    talk.ok(sasl_auth);
    EXPECT_EQ(talk.failure().why.code(), errc::request_canceled);
    EXPECT_TRUE(talk.flushed.empty());
}

}  // namespace
}  // namespace holdfast::core::couchbase::bootstrap_test
