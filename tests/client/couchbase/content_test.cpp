// The content of documents by its type, stored in the lab and read back.
#include "client/couchbase/operation_fixture.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/json/boost.hpp"

#include <boost/describe.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::couchbase_content_test {

enum class alliance { none, skyteam };
BOOST_DESCRIBE_ENUM(alliance, none, skyteam)

struct airline {
    std::string name;
    std::vector<std::string> routes;
    std::optional<alliance> member;
    std::map<std::string, int> fleet;
    friend bool operator==(const airline&, const airline&) = default;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, routes, member, fleet))

/// A type with a transcoder of its own: every other byte, under flags of its own.
struct picture {
    std::string pixels;
    friend bool operator==(const picture&, const picture&) = default;
};

result<couchbase::encoded_content> to_content(const picture& from)
{
    if (from.pixels.empty())
        return error{couchbase::errc::encoding_failure, "an empty picture"};
    return couchbase::encoded_content{"P" + from.pixels, 0x01000007};
}

result<picture> from_content(std::type_identity<picture>, couchbase::encoded_content stored)
{
    if (stored.flags != 0x01000007 || !stored.bytes.starts_with("P"))
        return error{couchbase::errc::decoding_failure, "no picture"};
    return picture{stored.bytes.substr(1)};
}

namespace {

using couchbase::errc;
using couchbase::raw_bytes;
using couchbase::raw_json;
using couchbase::raw_text;
using proof::use_awaitable;

class couchbase_content : public proof::operation_fixture {
protected:
    /// Stores it, and reads it as the same type.
    template <class T>
    couchbase::document<T> stored(const T& content)
    {
        good(all.upsert("a", content, {}, use_awaitable));
        return good(all.template get<T>("a", {}, use_awaitable));
    }
    template <class T>
    error_code code_of_get()
    {
        return code(all.template get<T>("a", {}, use_awaitable));
    }
};

TEST_F(couchbase_content, described_struct_is_json)
{
    const airline klm{"KLM", {"AMS-JFK"}, alliance::skyteam, {{"737", 40}}};
    const auto read = stored(klm);
    EXPECT_EQ(read.content, klm);
    EXPECT_EQ(read.flags, couchbase::content_flags::json);
    EXPECT_EQ(good(all.get("a", {}, use_awaitable)).content.text(),
              R"({"name":"KLM","routes":["AMS-JFK"],"member":"skyteam","fleet":{"737":40}})");
}

TEST_F(couchbase_content, boost_json_values_are_json)
{
    const boost::json::value tree = {{"n", 1}, {"list", {1, "two", nullptr}}};
    const auto read = stored(tree);
    EXPECT_EQ(read.content, tree);
    EXPECT_EQ(read.flags, couchbase::content_flags::json);
}

TEST_F(couchbase_content, numbers_texts_and_lists_are_json)
{
    EXPECT_EQ(stored(std::string{"a \"text\""}).content, "a \"text\"");
    EXPECT_EQ(stored(42).content, 42);
    EXPECT_EQ(stored(std::vector{1, 2}).content, (std::vector{1, 2}));
    EXPECT_EQ(good(all.get("a", {}, use_awaitable)).content.text(), "[1,2]");
}

TEST_F(couchbase_content, raw_types_are_stored_byte_for_byte_under_the_common_flags)
{
    EXPECT_EQ(stored(raw_json{R"({ "n" : 1 })"}).content.text(), R"({ "n" : 1 })");
    const auto text = stored(raw_text{"plain"});
    EXPECT_EQ(text.content.text, "plain");
    EXPECT_EQ(text.flags, couchbase::content_flags::text);
    const raw_bytes octets{{0, 1, 255}};
    const auto bytes = stored(octets);
    EXPECT_EQ(bytes.content, octets);
    EXPECT_EQ(bytes.flags, couchbase::content_flags::binary);
}

TEST_F(couchbase_content, own_transcoder_decides_on_bytes_and_flags)
{
    const auto read = stored(picture{"xyz"});
    EXPECT_EQ(read.content, picture{"xyz"});
    EXPECT_EQ(read.flags, 0x01000007u);
    const picture empty;
    EXPECT_EQ(code(all.upsert("b", empty, {}, use_awaitable)), errc::encoding_failure);
    EXPECT_EQ(code(all.insert("b", empty, {}, use_awaitable)), errc::encoding_failure);
    EXPECT_EQ(code(all.replace("b", empty, {}, use_awaitable)), errc::encoding_failure);
    good(all.upsert("a", raw_text{"P"}, {}, use_awaitable));
    EXPECT_EQ(code_of_get<picture>(), errc::decoding_failure);
}

TEST_F(couchbase_content, flags_that_do_not_fit_the_type_are_an_error_that_names_both)
{
    good(all.upsert("a", raw_text{"1"}, {}, use_awaitable));
    for (const error_code& got : {code_of_get<int>(), code_of_get<raw_json>(),
                                  code_of_get<raw_bytes>(), code_of_get<boost::json::value>()})
        EXPECT_EQ(got, errc::decoding_failure);
    const auto failed = scene.run(all.get<int>("a", {}, use_awaitable));
    EXPECT_EQ(failed->error().context("found"), "0x04000006");
    EXPECT_EQ(failed->error().context("expected"), "0x02000006");
    const auto part = scene.run(all.get_if<int>("a", {}, use_awaitable));
    EXPECT_EQ(part->code(), errc::decoding_failure);
    EXPECT_EQ(code(all.get_any_replica<int>("a", {}, use_awaitable)), errc::decoding_failure);
    EXPECT_EQ(code(all.get_all_replicas<int>("a", {}, use_awaitable)), errc::decoding_failure);
}

TEST_F(couchbase_content, json_that_does_not_fit_the_type_is_an_error_with_its_path)
{
    good(all.upsert("a", raw_json{R"({"name":1})"}, {}, use_awaitable));
    const auto failed = scene.run(all.get<airline>("a", {}, use_awaitable));
    EXPECT_EQ(failed->code(), errc::decoding_failure);
    EXPECT_NE(failed->error().message().find("name"), std::string::npos) << failed->explain();
    good(all.upsert("a", raw_json{"{"}, {}, use_awaitable));
    EXPECT_EQ(code_of_get<airline>(), errc::decoding_failure);
}

TEST_F(couchbase_content, large_documents_are_compressed_and_read_back)
{
    const std::string text = "\"" + std::string(100'000, 'x') + "\"";
    EXPECT_EQ(stored(raw_json{text}).content.text(), text);
    const raw_json huge{"\"" + std::string(21 << 20, 'x') + "\""};
    const auto refused = scene.run(
        all.upsert("b", huge, {.timeout = std::chrono::seconds{30}}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::value_too_large) << refused->explain();
}

}  // namespace
}  // namespace holdfast::couchbase_content_test
