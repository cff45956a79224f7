#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/mapping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mapping_error_test {

namespace bson = holdfast::bson;

enum class color { red, green, dark_blue };
BOOST_DESCRIBE_ENUM(color, red, green, dark_blue)

struct address {
    std::vector<std::string> lines;
    color door = color::red;
};
BOOST_DESCRIBE_STRUCT(address, (), (lines, door))

struct circle {
    double radius = 0;
};
struct square {
    double side = 0;
};
BOOST_DESCRIBE_STRUCT(circle, (), (radius))
BOOST_DESCRIBE_STRUCT(square, (), (side))

struct person {
    std::string owner = "x";
    std::int8_t age = 0;
    std::optional<address> home;
    std::map<std::string, std::vector<address>> others;
    std::array<int, 2> pair{};
    std::vector<std::uint8_t> blob;
    std::array<std::byte, 2> two{};
    std::variant<int, circle> one_struct;
    std::variant<circle, square> two_structs;
    std::chrono::sys_time<std::chrono::nanoseconds> when;
    std::chrono::duration<std::int16_t> wait{};
};
BOOST_DESCRIBE_STRUCT(person, (),
                      (owner, age, home, others, pair, blob, two, one_struct, two_structs, when,
                       wait))

struct strict {
    int a = 0;
    int hidden = 0;
};
BOOST_DESCRIBE_STRUCT(strict, (), (a, hidden))

struct outer {
    strict inner;
};
BOOST_DESCRIBE_STRUCT(outer, (), (inner))

struct left;
struct right;
using corridor = std::variant<left, right>;
struct left {
    std::vector<corridor> ways;
    int wall = 0;
};
struct right {
    std::vector<corridor> ways;
    int door = 0;
};
BOOST_DESCRIBE_STRUCT(left, (), (ways, wall))
BOOST_DESCRIBE_STRUCT(right, (), (ways, door))

}  // namespace mapping_error_test

template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_error_test::person> = mapping{
    all_defaulted};
template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_error_test::color> = mapping{
    rename(mapping_error_test::color::dark_blue, "dark-blue")};
template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_error_test::strict> = mapping{
    skip(&mapping_error_test::strict::hidden), reject_unknown};

namespace mapping_error_test {
namespace {

using bson::doc;
using bson::document;
using bson::errc;
using bson::from_bson;
using bson::list;
using bson::object;

struct row {
    document from;
    errc code;
    std::string_view message;
    std::string_view path;
    std::string_view expected;
    std::string_view found;
};

template <class T>
void check(const row& r)
{
    SCOPED_TRACE(r.message);
    const auto read = from_bson<T>(r.from);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), r.code) << read.error().code().message();
    EXPECT_EQ(read.error().message(), r.message);
    EXPECT_EQ(read.error().context("path"), r.path);
    EXPECT_EQ(read.error().context("expected"), r.expected);
    EXPECT_EQ(read.error().context("found"), r.found);
}

TEST(mapping_error, from_bson_error_names_path_and_both_types)
{
    const std::vector<std::uint8_t> three{1, 2, 3};
    const auto far = bson::datetime{std::chrono::milliseconds{INT64_MAX}};
    const std::string_view wrong_utf8 = "\xFF";
    const bson::binary id{three, bson::binary_subtype::uuid};
    const row table[] = {
        {doc("owner", 5), errc::wrong_type, "owner: expected string, found int32", "owner",
         "string", "int32"},
        {doc("owner", bson::null{}), errc::wrong_type, "owner: expected string, found null",
         "owner", "string", "null"},
        {doc("owner", bson::unchecked_text{wrong_utf8}), errc::invalid_utf8,
         "owner: the text is not UTF-8", "owner", "", ""},
        {doc("age", 200), errc::out_of_range, "age: the int32 does not fit into an 8-bit integer",
         "age", "", ""},
        {doc("home", 1), errc::wrong_type, "home: expected document, found int32", "home",
         "document", "int32"},
        {doc("home", object("lines", list())), errc::missing_field, "home.door: missing",
         "home.door", "", ""},
        {doc("home", object("door", "red", "lines", list("a", "b", 3))), errc::wrong_type,
         "home.lines.2: expected string, found int32", "home.lines.2", "string", "int32"},
        {doc("home", object("lines", list(), "door", "blue")), errc::invalid_value,
         "home.door: expected one of red, green, dark-blue, found \"blue\"", "home.door",
         "one of red, green, dark-blue", "\"blue\""},
        {doc("home", object("lines", list(), "door", 0)), errc::wrong_type,
         "home.door: expected string, found int32", "home.door", "string", "int32"},
        {doc("others", object("x", list(object("lines", 1)))), errc::wrong_type,
         "others.x.0.lines: expected array, found int32", "others.x.0.lines", "array", "int32"},
        {doc("others", list()), errc::wrong_type, "others: expected document, found array",
         "others", "document", "array"},
        {doc("pair", list(1)), errc::wrong_type, "pair: expected 2 elements, found 1", "pair",
         "2 elements", "1"},
        {doc("pair", list(1, 2, 3)), errc::wrong_type, "pair: expected 2 elements, found 3", "pair",
         "2 elements", "3"},
        {doc("blob", list(1)), errc::wrong_type, "blob: expected binary, found array", "blob",
         "binary", "array"},
        {doc("blob", id), errc::wrong_type, "blob: expected binary of subtype 0, found subtype 4",
         "blob", "binary of subtype 0", "subtype 4"},
        {doc("two", bson::binary{three}), errc::wrong_type, "two: expected 2 bytes, found 3", "two",
         "2 bytes", "3"},
        {doc("one_struct", object("radius", "x")), errc::wrong_type,
         "one_struct.radius: expected double, found string", "one_struct.radius", "double",
         "string"},
        {doc("two_structs", object("r", 1)), errc::wrong_type,
         "two_structs: expected one of 2 alternatives, found document", "two_structs",
         "one of 2 alternatives", "document"},
        {doc("when", far), errc::out_of_range,
         "when: the datetime does not fit into the precision of this time point", "when", "", ""},
        {doc("when", 1), errc::wrong_type, "when: expected datetime, found int32", "when",
         "datetime", "int32"},
        {doc("wait", 40000), errc::out_of_range,
         "wait: the int32 does not fit into a 16-bit integer", "wait", "", ""},
    };
    for (const row& r : table)
        check<person>(r);
}

TEST(mapping_error, strict_struct_rejects_unknown_fields)
{
    EXPECT_TRUE(from_bson<strict>(doc("a", 1)));
    check<strict>({doc("a", 1, "b", 2), errc::unknown_field, "b: unknown field", "b", "", "int32"});
    check<strict>({doc("hidden", 1, "a", 1), errc::unknown_field, "hidden: unknown field", "hidden",
                   "", "int32"});
    check<outer>({doc("other", 1, "inner", object("a", 1, "b", 2)), errc::unknown_field,
                  "inner.b: unknown field", "inner.b", "", "int32"});
}

TEST(mapping_error, to_bson_of_an_unmappable_value_is_an_error)
{
    const auto unnamed = bson::to_bson(address{{}, static_cast<color>(77)});
    ASSERT_FALSE(unnamed);
    EXPECT_EQ(unnamed.error().code(), errc::invalid_value);
    EXPECT_EQ(unnamed.error().context("path"), "door");

    using hours = std::chrono::sys_time<std::chrono::hours>;
    const auto never = bson::to_bson(std::map<std::string, hours>{{"t", hours::max()}});
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().code(), errc::out_of_range);
}

/// Cuts a document short in every way and asks for its fields: an error, or a value, never a crash.
TEST(mapping_error, from_bson_reports_malformed_bytes)
{
    const document whole = doc("owner", "ada", "home", object("lines", list("a"), "door", "red"));
    const auto bytes = whole.bytes();
    int errors = 0;
    for (std::size_t at = 4; at < bytes.size() - 1; ++at) {
        std::vector<std::uint8_t> broken{bytes.begin(), bytes.end()};
        broken[at] = 0xFE;
        const auto seen = bson::view::parse(broken);
        ASSERT_TRUE(seen);
        const auto read = from_bson<person>(*seen);
        errors += read ? 0 : 1;
    }
    EXPECT_GT(errors, 20);

    std::vector<std::uint8_t> broken{bytes.begin(), bytes.end()};
    broken[4] = 0x66;  // the type of the first element
    const auto read = from_bson<person>(*bson::view::parse(broken));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), errc::malformed);
    EXPECT_EQ(read.error().context("offset"), "4");
}

TEST(mapping_error, map_member_reports_malformed_bytes)
{
    // The malformed second element has no key, and must not pass for a repetition of the first.
    const document whole = doc("", 1, "b", 2);
    std::vector<std::uint8_t> broken{whole.bytes().begin(), whole.bytes().end()};
    broken[10] = 0x66;
    const auto read = from_bson<std::map<std::string, std::optional<int>>>(
        *bson::view::parse(broken));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), errc::malformed);
    EXPECT_EQ(read.error().context("offset"), "10");
}

TEST(mapping_error, nested_variants_stop_after_bounded_work)
{
    // Neither alternative fits at the innermost level, so each level would double the work.
    document inner = doc("ways", list());
    for (int i = 0; i < 40; ++i)
        inner = doc("ways", list(inner));
    const auto read = doc("start", inner)["start"].get<corridor>();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), errc::too_large) << read.error().message().substr(0, 200);
}

}  // namespace
}  // namespace mapping_error_test
