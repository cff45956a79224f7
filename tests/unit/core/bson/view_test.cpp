#include "holdfast/bson/view.hpp"

#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::bson::view_test {
namespace {

using bytes = std::vector<std::uint8_t>;

document sample()
{
    return doc("name", "Ada", "born", 1815, "address",
               object("street", "St James's Square", "lines", list("first", 2, object("x", true))),
               "nothing", null{});
}

TEST(view, empty_document_has_five_bytes_and_no_elements)
{
    const view empty;
    EXPECT_TRUE(empty.empty());
    EXPECT_EQ(empty.size(), 5u);
    EXPECT_TRUE(empty.begin() == empty.end());
}

TEST(view, iteration_gives_keys_and_types_in_order)
{
    const document d = sample();
    std::string seen;
    for (const element& e : d)
        seen += std::string{e.key()} + ":" + std::string{name_of(e.type())} + " ";
    EXPECT_EQ(seen, "name:string born:int32 address:document nothing:null ");
}

TEST(view, lookup_by_key_finds_the_first_or_missing_field)
{
    const document d = doc("a", 1, "a", 2);
    EXPECT_EQ(*d["a"].get<int>(), 1);
    const element none = d["b"];
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get<int>().error().code(), errc::missing_field);
    EXPECT_EQ(none.get<int>().error().message(), "b: missing");
}

TEST(view, lookup_by_path_descends_documents_and_arrays)
{
    const document d = sample();
    EXPECT_EQ(*d.get<std::string>("address.lines.0"), "first");
    EXPECT_EQ(*d.get<int>("address.lines.1"), 2);
    EXPECT_EQ(*d.get<bool>("address.lines.2.x"), true);
}

TEST(view, get_errors_name_the_path_and_both_types)
{
    const document d = sample();
    struct row {
        const char* path;
        errc code;
        const char* message;
    };
    const row table[] = {
        {"address.lines.1", errc::wrong_type, "address.lines.1: expected string, found int32"},
        {"born", errc::wrong_type, "born: expected string, found int32"},
        {"address.zip", errc::missing_field, "address.zip: missing"},
        {"born.year", errc::missing_field, "born.year: missing"},
        {"address.lines.2.x.y", errc::missing_field, "address.lines.2.x.y: missing"},
        {"address.zip.code.x", errc::missing_field, "address.zip.code.x: missing"},
        {"", errc::missing_field, ": missing"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.path);
        const auto text = d.get<std::string>(r.path);
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().code(), r.code);
        EXPECT_EQ(text.error().message(), r.message);
        EXPECT_EQ(text.error().context("path"), r.path);
    }
    EXPECT_EQ(d.get<std::string>("born").error().context("found"), "int32");
    EXPECT_EQ(d.get<std::string>("born").error().context("expected"), "string");
}

TEST(view, parse_checks_length_and_terminator)
{
    struct row {
        const char* why;
        bytes input;
        const char* offset;
    };
    const row table[] = {
        {"nothing", {}, "0"},
        {"four bytes", {5, 0, 0, 0}, "0"},
        {"length too small", {4, 0, 0, 0, 0}, "0"},
        {"negative length", {0xFF, 0xFF, 0xFF, 0xFF, 0}, "0"},
        {"length too large", {6, 0, 0, 0, 0}, "0"},
        {"no terminator", {5, 0, 0, 0, 1}, "4"},
        {"more bytes after the end", {5, 0, 0, 0, 0, 7}, "5"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto parsed = view::parse(r.input);
        ASSERT_FALSE(parsed);
        EXPECT_EQ(parsed.error().code(), errc::malformed);
        EXPECT_EQ(parsed.error().context("offset"), r.offset);
    }
    EXPECT_TRUE(view::parse_prefix(bytes{5, 0, 0, 0, 0, 7}));
}

/// A document with the given bytes between its length and its terminator.
bytes wrapped(const bytes& inside)
{
    bytes all{static_cast<std::uint8_t>(inside.size() + 5), 0, 0, 0};
    all.insert(all.end(), inside.begin(), inside.end());
    all.push_back(0);
    return all;
}

TEST(view, malformed_element_ends_iteration_with_an_error)
{
    struct row {
        bytes inside;
        const char* says;
    };
    const row table[] = {
        {{0x80, 'a', 0}, "unknown type 0x80"},
        {{0x10, 'a'}, "the key is not ended by a zero byte"},
        {{0x10, 'a', 0, 1, 2}, "int32 in \"a\": needs 4 bytes, 2 bytes are left"},
        {{0x02, 'a', 0, 1, 0}, "string in \"a\": no room for a length"},
        {{0x02, 'a', 0, 0, 0, 0, 0, 0}, "string in \"a\": length 0 is impossible"},
        {{0x02, 'a', 0, 9, 0, 0, 0, 0}, "string in \"a\": length 9 is impossible"},
        {{0x02, 'a', 0, 0xFF, 0xFF, 0xFF, 0xFF, 0}, "string in \"a\": length -1 is impossible"},
        {{0x02, 'a', 0, 1, 0, 0, 0, 'x'}, "string in \"a\": length 1 does not lead to a zero"},
        {{0x03, 'a', 0, 6, 0, 0, 0, 0, 1}, "document in \"a\": length 6 does not lead to a zero"},
        {{0x03, 'a', 0, 4, 0, 0, 0, 0}, "document in \"a\": length 4"},
        {{0x05, 'a', 0, 2, 0, 0, 0, 0, 1}, "binary in \"a\": length 2"},
        {{0x0B, 'a', 0, 'x'}, "regex in \"a\": pattern and options"},
        {{0x0C, 'a', 0, 1, 0, 0, 0, 0}, "DBPointer in \"a\""},
        {{0x0F, 'a', 0, 13, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0}, "code with scope in \"a\""},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.says);
        const bytes input = wrapped(r.inside);
        const auto parsed = view::parse(input);
        ASSERT_TRUE(parsed);
        int steps = 0;
        for (const element& e : *parsed) {
            ++steps;
            EXPECT_TRUE(e.malformed());
            EXPECT_FALSE(e);
            EXPECT_EQ(e.fault().substr(0, std::string{r.says}.size()), r.says);
            EXPECT_EQ(e.get<int>().error().code(), errc::malformed);
            EXPECT_EQ(e.get<int>().error().context("offset"), "4");
        }
        EXPECT_EQ(steps, 1);
        EXPECT_TRUE(parsed->find("zzz").malformed());
    }
}

TEST(view, value_may_end_where_its_document_ends)
{
    const document d = doc("a", doc("b", doc("c", "d")));
    EXPECT_EQ(*d.get<std::string>("a.b.c"), "d");
}

TEST(array_view, elements_are_indexed_by_position_not_key)
{
    const bytes input = wrapped({0x10, 'x', 0, 7, 0, 0, 0, 0x10, 0, 8, 0, 0, 0});
    const array_view odd{view::parse(input).value()};
    EXPECT_EQ(odd.count(), 2u);
    EXPECT_EQ(*odd[1].get<int>(), 8);
    EXPECT_FALSE(odd[2]);
}

TEST(element, code_with_scope_lengths_are_checked_on_read)
{
    struct row {
        const char* why;
        bytes inside;
        bool good;
    };
    const row table[] = {
        {"right", {0x0F, 'a', 0, 15, 0, 0, 0, 2, 0, 0, 0, 'x', 0, 5, 0, 0, 0, 0}, true},
        {"text too long", {0x0F, 'a', 0, 15, 0, 0, 0, 3, 0, 0, 0, 'x', 0, 5, 0, 0, 0, 0}, false},
        {"text empty", {0x0F, 'a', 0, 14, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0}, false},
        {"no zero", {0x0F, 'a', 0, 15, 0, 0, 0, 2, 0, 0, 0, 'x', 'y', 5, 0, 0, 0, 0}, false},
        {"scope short", {0x0F, 'a', 0, 16, 0, 0, 0, 2, 0, 0, 0, 'x', 0, 5, 0, 0, 0, 0, 0}, false},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const bytes input = wrapped(r.inside);
        EXPECT_EQ(view::parse(input)->find("a").get<code_with_scope>().has_value(), r.good);
    }
}

TEST(element, numeric_get_refuses_lossy_conversions)
{
    const document d = doc("i", 7, "l", std::int64_t{1} << 40, "d", 3.0, "f", 3.5, "huge", 1e300,
                           "odd", (std::int64_t{1} << 53) + 1, "max", INT64_MAX, "text", "7",
                           "minus", -1);
    EXPECT_EQ(*d.get<std::int64_t>("i"), 7);
    EXPECT_EQ(*d.get<double>("i"), 7.0);
    EXPECT_EQ(*d.get<std::int64_t>("l"), std::int64_t{1} << 40);
    EXPECT_EQ(*d.get<int>("d"), 3);
    EXPECT_EQ(*d.get<double>("l"), 1099511627776.0);
    EXPECT_EQ(*d.get<std::uint64_t>("max"), std::uint64_t{INT64_MAX});
    EXPECT_EQ(*d.get<std::uint8_t>("i"), 7);
    const auto code_of = [&](const auto& read) { return read.error().code(); };
    EXPECT_EQ(code_of(d.get<int>("l")), errc::out_of_range);
    EXPECT_EQ(code_of(d.get<int>("f")), errc::out_of_range);
    EXPECT_EQ(code_of(d.get<std::int64_t>("huge")), errc::out_of_range);
    EXPECT_EQ(code_of(d.get<double>("odd")), errc::out_of_range);
    EXPECT_EQ(code_of(d.get<double>("max")), errc::out_of_range);
    EXPECT_EQ(code_of(d.get<unsigned>("minus")), errc::out_of_range);
    EXPECT_EQ(code_of(d.get<int>("text")), errc::wrong_type);
    EXPECT_EQ(code_of(d.get<bool>("i")), errc::wrong_type);
}

TEST(element, string_get_checks_utf8)
{
    const document d = doc("good", "\xC3\xA9", "bad", unchecked_text{"\xC3("});
    EXPECT_EQ(*d.get<std::string_view>("good"), "\xC3\xA9");
    const auto bad = d.get<std::string>("bad");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code(), errc::invalid_utf8);
    EXPECT_EQ(bad.error().message(), "bad: the text is not UTF-8");
    EXPECT_EQ(d["bad"].as_string(), "\xC3(");
}

}  // namespace
}  // namespace holdfast::bson::view_test
