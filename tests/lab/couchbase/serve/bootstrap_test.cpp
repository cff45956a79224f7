#include "lab/couchbase/serve/kv_link.hpp"

#include <boost/json/parse.hpp>

namespace holdfast::lab::couchbase::bootstrap_test {
namespace {

namespace json = boost::json;

class lab_couchbase_bootstrap : public kv_nodes {};

TEST_F(lab_couchbase_bootstrap, hello_grants_what_is_asked_for_and_known)
{
    const auto reply = link.hello({0x12, 0x1b, 0x04, 0x04, 0x7777});
    EXPECT_EQ(reply.status, kv_status::success);
    EXPECT_EQ(reply.value, std::string("\x00\x12\x00\x04", 4));
    EXPECT_EQ(link.hello({0x07}).value, std::string("\x00\x07", 2));
    EXPECT_FALSE(link.talk.client().has(kv_feature::collections));
    EXPECT_EQ(link.ask({.opcode = kv_opcode::hello, .value = "odd"}).status, kv_status::invalid);
}

TEST_F(lab_couchbase_bootstrap, login_succeeds_with_each_mechanism_and_the_right_password_only)
{
    EXPECT_EQ(link.ask({.opcode = kv_opcode::sasl_list_mechanisms}).value,
              "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1");
    for (const scram_mechanism& one : scram_mechanisms) {
        const std::string name{one.name};
        EXPECT_EQ(link.log_in(name, one.hash, "lovelace"), kv_status::success) << name;
        EXPECT_EQ(link.talk.client().user, "ada");
        EXPECT_EQ(link.log_in(name, one.hash, "Lovelace"), kv_status::auth_error) << name;
        EXPECT_EQ(link.talk.client().user, "");
    }
    EXPECT_EQ(link.log_in("SCRAM-SHA-256", scram_hash::sha_256, "lovelace"), kv_status::auth_error);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::sasl_step, .key = "SCRAM-SHA1", .value = "x"}).status,
              kv_status::auth_error);
}

TEST_F(lab_couchbase_bootstrap, plain_login_needs_tls_or_an_option)
{
    const sent_request plain{.opcode = kv_opcode::sasl_auth,
                             .key = "PLAIN",
                             .value = std::string("\0ada\0lovelace", 13)};
    EXPECT_EQ(link.ask(plain).status, kv_status::auth_error);
    kv_link secure{first, true};
    EXPECT_TRUE(secure.ask({.opcode = kv_opcode::sasl_list_mechanisms}).value.ends_with(" PLAIN"));
    EXPECT_EQ(secure.ask(plain).status, kv_status::success);
    sent_request wrong = plain;
    wrong.value.back() = 'x';
    EXPECT_EQ(secure.ask(wrong).status, kv_status::auth_error);
    first.options.plain_without_tls = true;
    EXPECT_EQ(link.ask(plain).status, kv_status::success);
}

TEST_F(lab_couchbase_bootstrap, login_and_bucket_are_needed_in_this_order)
{
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get_cluster_config}).status, kv_status::no_access);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get, .key = "k"}).status, kv_status::no_access);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::select_bucket, .key = "travel"}).status,
              kv_status::no_access);
    link.log_in("SCRAM-SHA1", scram_hash::sha_1, "lovelace");
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get, .key = "k"}).status, kv_status::no_bucket);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::select_bucket, .key = "unknown"}).status,
              kv_status::no_access);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::select_bucket, .key = "elsewhere"}).status,
              kv_status::not_found);
    first.users.at("ada").buckets = {"elsewhere"};
    EXPECT_EQ(link.ask({.opcode = kv_opcode::select_bucket, .key = "travel"}).status,
              kv_status::no_access);
    first.users.at("ada").buckets = {"travel"};
    EXPECT_EQ(link.ask({.opcode = kv_opcode::select_bucket, .key = "travel"}).status,
              kv_status::success);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get, .key = "k"}).status, kv_status::not_found);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::select_bucket, .key = "@no bucket@"}).status,
              kv_status::success);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get, .key = "k"}).status, kv_status::no_bucket);
}

TEST_F(lab_couchbase_bootstrap, configuration_is_global_without_a_bucket_and_empty_if_not_newer)
{
    link.log_in("SCRAM-SHA1", scram_hash::sha_1, "lovelace");
    const auto global = json::parse(link.ask({.opcode = kv_opcode::get_cluster_config}).value);
    EXPECT_FALSE(global.as_object().contains("name"));
    EXPECT_EQ(global.at("nodesExt").at(0).at("thisNode"), true);
    link.ask({.opcode = kv_opcode::select_bucket, .key = "travel"});
    sent_request known{.opcode = kv_opcode::get_cluster_config};
    const auto of_bucket = json::parse(link.ask(known).value);
    EXPECT_EQ(of_bucket.at("name"), "travel");
    EXPECT_EQ(of_bucket.at("vBucketServerMap").at("vBucketMap").as_array().size(), 1024u);
    known.extras = std::string(7, '\0') + '\1' + std::string(7, '\0') + '\5';
    EXPECT_EQ(link.ask(known).value, "");
    known.extras.back() = '\4';
    EXPECT_NE(link.ask(known).value, "");
    known.extras.pop_back();
    EXPECT_EQ(link.ask(known).status, kv_status::invalid);
}

TEST_F(lab_couchbase_bootstrap, error_map_is_of_the_version_that_the_client_knows)
{
    sent_request asked{.opcode = kv_opcode::get_error_map, .value = std::string("\0\1", 2)};
    const auto first_map = json::parse(link.ask(asked).value);
    EXPECT_EQ(first_map.at("version"), 1);
    EXPECT_FALSE(first_map.at("errors").as_object().contains("30"));
    asked.value.back() = 9;
    const auto newest = json::parse(link.ask(asked).value);
    EXPECT_EQ(newest.at("version"), 2);
    EXPECT_EQ(newest.at("errors").at("86").at("attrs"), (json::array{"temp", "retry-now"}));
    asked.value.clear();
    EXPECT_EQ(link.ask(asked).status, kv_status::invalid);
}

TEST_F(lab_couchbase_bootstrap, manifest_and_ids_are_given_and_unknown_names_carry_the_uid)
{
    bootstrap(link);
    manifest& of = first.buckets.at("travel").collections;
    of.create_scope("s");
    of.create_collection("s", "c");
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get_collections_manifest}).value, of.text());
    const auto id = link.ask({.opcode = kv_opcode::get_collection_id, .value = "s.c"});
    EXPECT_EQ(id.extras, std::string("\0\0\0\0\0\0\0\2\0\0\0\11", 12));
    const auto unknown = link.ask({.opcode = kv_opcode::get_collection_id, .value = "s.d"});
    EXPECT_EQ(unknown.status, kv_status::unknown_collection);
    EXPECT_EQ(unknown.value, R"({"manifest_uid":"2"})");
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get_collection_id, .value = "t.d"}).status,
              kv_status::unknown_scope);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get_scope_id, .value = "s"}).extras,
              std::string("\0\0\0\0\0\0\0\2\0\0\0\10", 12));
}

TEST_F(lab_couchbase_bootstrap, small_commands_are_answered_and_unknown_ones_refused)
{
    EXPECT_EQ(link.ask({.opcode = kv_opcode::noop}).status, kv_status::success);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::version}).value, "7.6.0");
    EXPECT_EQ(link.ask({.opcode = kv_opcode{0x09}}).status, kv_status::unknown_command);
    EXPECT_EQ(link.ask({.opcode = kv_opcode{0x50}}).status, kv_status::unknown_command);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::range_scan_create}).status, kv_status::not_supported);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::noop, .value = "x"}).status, kv_status::invalid);
    bootstrap(link);
    link.write({.opcode = kv_opcode::stat}, 9);
    link.flush();
    const auto all = link.replies();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].key, "curr_items");
    EXPECT_EQ(all[2].key, "");
    EXPECT_EQ(all[2].opaque, 9u);
}

TEST_F(lab_couchbase_bootstrap, bytes_that_are_no_request_end_the_connection)
{
    const std::uint8_t garbage[24] = {0x55};
    std::copy_n(garbage, 24, link.out.grow(24));
    EXPECT_EQ(link.flush(), need::nothing);
    kv_link other{first};
    const std::uint8_t response[24] = {0x81};
    std::copy_n(response, 24, other.out.grow(24));
    EXPECT_EQ(other.flush(), need::nothing);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::bootstrap_test
