#include "core/couchbase/retry/kv_error_map.hpp"

#include "core/couchbase/retry/json_text.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

namespace holdfast::core::couchbase::kv_error_map_test {
namespace {

using holdfast::couchbase::errc;

std::string map_with(std::string_view version, std::string_view revision, std::string_view errors)
{
    return std::string{R"({"version": )"}
        .append(version)
        .append(R"(, "revision": )")
        .append(revision)
        .append(R"(, "errors": )")
        .append(errors)
        .append("}");
}

TEST(kv_error_map, versions_1_and_2_are_parsed)
{
    for (const char* version : {"1", "2"}) {
        const auto map = kv_error_map::parse(map_with(version, "4", R"({
            "0": {"name": "SUCCESS", "desc": "Success", "attrs": ["success"]},
            "1F": {"name": "AUTH_STALE", "desc": "Again", "attrs": ["conn-state-invalidated"]},
            "d": {"name": "ECONFIG_ONLY", "desc": "Config", "attrs": ["fetch-config", "retry-now"]},
            "ffff": {"name": "NEW", "desc": "New", "attrs": ["rate-limit", "of-the-future",
                     "retry-later"], "retry": {"strategy": "linear", "interval": 10}}})"));
        ASSERT_TRUE(map) << map.error().message();
        EXPECT_EQ(map->version(), version[0] - '0');
        EXPECT_EQ(map->revision(), 4);
        EXPECT_EQ(map->size(), 4u);
        const error_map_entry* const stale = map->find(kv_status::auth_stale);
        ASSERT_TRUE(stale);
        EXPECT_EQ(stale->name, "AUTH_STALE");
        EXPECT_EQ(stale->description, "Again");
        EXPECT_TRUE(stale->connection_invalidated);
        EXPECT_FALSE(stale->fetch_config);
        EXPECT_FALSE(stale->indicates_retry());
        const error_map_entry* const config = map->find(static_cast<kv_status>(0x0d));
        ASSERT_TRUE(config);
        EXPECT_TRUE(config->fetch_config && config->retry_now && config->indicates_retry());
        EXPECT_FALSE(config->retry_later || config->connection_invalidated);
        const error_map_entry* const future = map->find(static_cast<kv_status>(0xffff));
        ASSERT_TRUE(future);
        EXPECT_TRUE(future->retry_later && future->indicates_retry());
        EXPECT_FALSE(future->retry_now);
        EXPECT_EQ(map->find(kv_status::locked), nullptr);
    }
}

TEST(kv_error_map, higher_revision_wins_regardless_of_version)
{
    const auto old_map = kv_error_map::parse(map_with("2", "3", "{}"));
    const auto new_map = kv_error_map::parse(map_with("1", "4", "{}"));
    ASSERT_TRUE(old_map && new_map);
    EXPECT_EQ(&newer_of(*old_map, *new_map), &*new_map);
    EXPECT_EQ(&newer_of(*new_map, *old_map), &*new_map);
    EXPECT_EQ(&newer_of(*old_map, *old_map), &*old_map);
    const auto same = kv_error_map::parse(map_with("2", "4", "{}"));
    EXPECT_EQ(&newer_of(*new_map, *same), &*new_map);  // what we have is good enough
    const auto first = kv_error_map::parse(map_with("1", "1", "{}"));
    const kv_error_map none;
    EXPECT_EQ(none.version(), 0);
    EXPECT_EQ(&newer_of(none, *first), &*first);  // any is better than none
}

TEST(kv_error_map, malformed_map_error_names_the_field)
{
    struct row { const char* why; std::string text; const char* says; };
    const row table[] = {
        {"nothing", "", "invalid JSON at byte 0"},
        {"no JSON", "<html>", "invalid JSON at byte 0"},
        {"cut off", R"({"version": 1, "rev)", "invalid JSON"},
        {"something behind", map_with("1", "1", "{}") + "x", "invalid JSON"},
        {"an array", "[]", "lacks a version"},
        {"no version", R"({"revision": 1, "errors": {}})", "lacks a version"},
        {"no revision", R"({"version": 1, "errors": {}})", "lacks a version"},
        {"no errors", R"({"version": 1, "revision": 1})", "lacks a version"},
        {"version 0", map_with("0", "1", "{}"), "version 0"},
        {"version 3", map_with("3", "1", "{}"), "version 3"},
        {"a text for a version", map_with("\"1\"", "1", "{}"), "lacks a version"},
        {"half a version", map_with("1.5", "1", "{}"), "lacks a version"},
        {"a huge revision", map_with("1", "18446744073709551615", "{}"), "lacks a version"},
        {"a list of errors", map_with("1", "1", "[]"), "lacks a version"},
        {"no status", map_with("1", "1", R"({"": {}})"), "\"\" is no status"},
        {"a word", map_with("1", "1", R"({"xyz": {}})"), "\"xyz\" is no status"},
        {"a prefix", map_with("1", "1", R"({"0x1": {}})"), "\"0x1\" is no status"},
        {"a sign", map_with("1", "1", R"({"-1": {}})"), "\"-1\" is no status"},
        {"17 bits", map_with("1", "1", R"({"10000": {}})"), "\"10000\" is no status"},
        {"a number", map_with("1", "1", R"({"1": 1})"), "1 lacks a name"},
        {"no name", map_with("1", "1", R"({"1": {"desc": "d", "attrs": []}})"), "1 lacks a name"},
        {"no desc", map_with("1", "1", R"({"1": {"name": "n", "attrs": []}})"), "1 lacks a name"},
        {"no attrs", map_with("1", "1", R"({"1": {"name": "n", "desc": "d"}})"), "1 lacks a name"},
        {"an attribute", map_with("1", "1", R"({"1": {"name": "n", "desc": "d", "attrs": [7]}})"),
         "1 has an attribute that is no string"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto map = kv_error_map::parse(r.text);
        ASSERT_FALSE(map);
        EXPECT_EQ(map.error().code(), errc::decoding_failure);
        EXPECT_NE(map.error().message().find(r.says), std::string::npos) << map.error().message();
    }
}

TEST(json_text, depth_and_size_limits_are_enforced)
{
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(parse_json(nested(32)));
    EXPECT_FALSE(parse_json(nested(33)));
    EXPECT_FALSE(parse_json(std::string(100'000, '[')));

    const std::string longest = '"' + std::string(max_json_bytes - 2, 'x') + '"';
    EXPECT_TRUE(parse_json(longest));
    const auto too_long = parse_json(longest + ' ');
    ASSERT_FALSE(too_long);
    EXPECT_EQ(too_long.error().message(), "JSON of 1048577 bytes; the limit is 1048576");
}

TEST(json_text, parse_error_names_the_offset)
{
    const auto bad = parse_json("[1, 2, oops]");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().context("offset"), "7");
    EXPECT_FALSE(parse_json("\"\xff\xfe\""));  // no UTF-8
    EXPECT_FALSE(parse_json(std::string_view{"[1]\0", 4}));
    EXPECT_TRUE(parse_json("[1] \n"));
}

TEST(json_text, find_returns_only_members_of_the_right_type)
{
    const auto parsed = parse_json(R"({"s": "x", "i": -7, "a": [], "o": {}, "d": 1.0})");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*find_string(*parsed, "s"), "x");
    EXPECT_EQ(*find_integer(*parsed, "i"), -7);
    EXPECT_TRUE(find_array(*parsed, "a"));
    EXPECT_TRUE(find_object(*parsed, "o"));
    for (const char* other : {"a", "o", "d", "none"}) {
        EXPECT_EQ(find_string(*parsed, other), nullptr);
        EXPECT_EQ(find_integer(*parsed, other), nullptr);
    }
    EXPECT_EQ(find_array(*parsed, "o"), nullptr);
    EXPECT_EQ(find_object(*parsed, "a"), nullptr);
    EXPECT_EQ(find_string(*find_array(*parsed, "a"), "s"), nullptr);
}

}  // namespace
}  // namespace holdfast::core::couchbase::kv_error_map_test
