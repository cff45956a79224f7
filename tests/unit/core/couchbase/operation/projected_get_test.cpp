#include "core/couchbase/operation/projected_get.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "unit/core/couchbase/operation/operation_frame.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::projected_get_test {
namespace {

using proof::from_hex;
namespace cb = holdfast::couchbase;

constexpr operation_context here{};

/// A reply with these parts, each with its status.
struct part { kv_status status; std::string_view content; };

proof::octets parts(const std::vector<part>& all)
{
    proof::octets value;
    for (const part& each : all) {
        value.resize(value.size() + 6);
        store_big(value.data() + value.size() - 6, static_cast<std::uint16_t>(each.status));
        store_big(value.data() + value.size() - 4, static_cast<std::uint32_t>(each.content.size()));
        value.insert(value.end(), each.content.begin(), each.content.end());
    }
    return value;
}

constexpr kv_status ok = kv_status::success;

TEST(projected_get, expiry_comes_with_the_flags_and_the_document)
{
    const auto made = projected_get_operation::make("ab", {.with_expiry = true}, here).value();
    EXPECT_EQ(frame_of(made.order),
              from_hex("80 d0 0003 00 00 0102 0000002f 0a0b0c0d 0000000000000000 00 6162"
                       "c5 04 0011 24646f63756d656e742e65787074696d65"
                       "c5 04 000f 24646f63756d656e742e666c616773"
                       "00 00 0000"));
    EXPECT_EQ(made.order.operation, "get");
    const auto value = parts({{ok, "1700000000"}, {ok, "67108870"}, {ok, "some text"}});
    const auto read = made.read({.cas = 4, .value = value}).value();
    EXPECT_EQ(read.content.bytes, "some text");
    EXPECT_EQ(read.content.flags, cb::content_flags::text);
    EXPECT_EQ(read.expiry, std::chrono::sys_seconds{std::chrono::seconds{1'700'000'000}});
    EXPECT_EQ(read.cas.value, 4u);
    const auto never = parts({{ok, "0"}, {ok, "33554438"}, {ok, "{}"}});
    EXPECT_FALSE(made.read({.value = never}).value().expiry);
    const auto wrong = parts({{ok, "\"x\""}, {ok, "33554438"}, {ok, "{}"}});
    EXPECT_EQ(made.read({.value = wrong}).error().code(), errc::decoding_failure);
}

TEST(projected_get, paths_are_put_together_to_a_document)
{
    const std::string_view paths[] = {"name", "address.city", "address.zip", "tags[0]",
                                      "no",   "list[3].x",    "list[3].y"};
    const auto made = projected_get_operation::make("ab", {.project = paths}, here).value();
    const auto value = parts({{ok, "\"KLM\""},
                              {ok, "\"AMS\""},
                              {ok, "7"},
                              {ok, "[1]"},
                              {kv_status::subdoc_path_not_found, ""},
                              {ok, "1"},
                              {ok, "2"}});
    const kv_reply reply{.status = kv_status::subdoc_multi_path_failure, .value = value};
    ASSERT_TRUE(projected_get_operation::is_answer(reply.status));
    const auto read = made.read(reply).value();
    EXPECT_EQ(read.content.bytes, R"({"name":"KLM","address":{"city":"AMS","zip":7},)"
                                  R"("tags":[[1]],"list":[{"x":1,"y":2}]})");
    EXPECT_EQ(read.content.flags, cb::content_flags::json);
}

TEST(projected_get, more_paths_than_fit_are_cut_out_by_the_client)
{
    std::vector<std::string_view> paths(16, "a.b");
    paths[3] = "list[-1]";
    paths[4] = "missing.x";
    paths[5] = "list[9]";
    const auto specs = [&](bool with_expiry) {
        const cb::get_options options{.with_expiry = with_expiry, .project = paths};
        return projected_get_operation::make("ab", options, here).value();
    };
    EXPECT_FALSE(specs(false).whole);
    const auto made = specs(true);
    EXPECT_TRUE(made.whole);
    const auto value = parts(
        {{ok, "0"}, {ok, "33554438"}, {ok, R"({"x":1,"a":{"c":2,"b":[3]},"list":[4,5]})"}});
    EXPECT_EQ(made.read({.value = value}).value().content.bytes, R"({"a":{"b":[3]},"list":[5]})");
    const auto no_json = parts({{ok, "0"}, {ok, "33554438"}, {ok, "{"}});
    EXPECT_EQ(made.read({.value = no_json}).error().code(), errc::decoding_failure);
}

TEST(projected_get, failures_of_paths_other_than_absence_surface)
{
    const std::string_view paths[] = {"a"};
    const auto made = projected_get_operation::make("ab", {.project = paths}, here).value();
    const auto value = parts({{kv_status::subdoc_not_json, ""}});
    EXPECT_EQ(
        made.read({.status = kv_status::subdoc_multi_path_failure, .value = value}).error().code(),
        errc::document_not_json);
}

TEST(projected_get, absence_of_the_document_is_a_value_to_get_if)
{
    const auto made = projected_get_if_operation::make("ab", {.with_expiry = true}, here).value();
    EXPECT_TRUE(projected_get_if_operation::is_answer(kv_status::not_found));
    EXPECT_FALSE(projected_get_operation::is_answer(kv_status::not_found));
    EXPECT_FALSE(made.read({.status = kv_status::not_found}).value());
    const auto value = parts({{ok, "0"}, {ok, "33554438"}, {ok, "{}"}});
    EXPECT_EQ(made.read({.value = value}).value()->content.bytes, "{}");
}

TEST(projection, paths_are_parsed_with_quotes_and_indices)
{
    using steps = std::vector<path_step>;
    EXPECT_EQ(parse_path("a.b[0][-1].`c.``d`").value(),
              (steps{"a", "b", std::int64_t{0}, std::int64_t{-1}, "c.`d"}));
    for (const char* bad : {"", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-2]", "a[0", "a]",
                            "a[0]b", "`a", "a`b`", "a.[0]", "a[99999999999999999999]"})
        EXPECT_FALSE(parse_path(bad)) << bad;
    std::string deep = "a";
    for (int i = 1; i < 32; ++i)
        deep += ".a";
    EXPECT_TRUE(parse_path(deep));
    EXPECT_FALSE(parse_path(deep + ".a"));
}

}  // namespace
}  // namespace holdfast::core::couchbase::projected_get_test
