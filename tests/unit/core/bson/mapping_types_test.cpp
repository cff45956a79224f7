#include "holdfast/bson/document.hpp"
#include "holdfast/bson/mapping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace mapping_types_test {

namespace bson = holdfast::bson;
using namespace std::chrono_literals;

enum class color { red, green, dark_blue };
BOOST_DESCRIBE_ENUM(color, red, green, dark_blue)

struct point {
    int x = 0;
    int y = 0;
    friend bool operator==(const point&, const point&) = default;
};
BOOST_DESCRIBE_STRUCT(point, (), (x, y))

struct named_point {
    int x = 0;
    std::string name;
    friend bool operator==(const named_point&, const named_point&) = default;
};
BOOST_DESCRIBE_STRUCT(named_point, (), (x, name))

/// One value of any type as a struct with one field.
template <class T>
struct box {
    T v{};
    BOOST_DESCRIBE_CLASS(box, (), (v), (), ())
};

struct prefilled {
    std::vector<int> list{1, 2};
    std::set<int> set{1, 2};
    std::map<std::string, int> map{{"a", 1}};
    std::vector<std::uint8_t> bytes{1, 2};
};
BOOST_DESCRIBE_STRUCT(prefilled, (), (list, set, map, bytes))

struct everything {
    bson::object_id id;
    std::string text;
    bool yes = false;
    std::int32_t small = 0;
    std::int64_t large = 0;
    std::uint16_t port = 0;
    double real = 0;
    float single = 0;
    bson::datetime date;
    std::chrono::system_clock::time_point precise;
    std::chrono::milliseconds wait{};
    bson::decimal128 price;
    bson::uuid key;
    std::vector<std::uint8_t> blob;
    std::optional<std::string> nick;
    std::optional<int> absent;
    color paint{};
    point at;
    std::vector<point> path;
    std::array<double, 2> pair{};
    std::set<std::string> tags;
    std::map<std::string, int> counts;
    std::variant<std::int64_t, std::string> either;
    std::unique_ptr<point> far;
    bson::document raw;
    bson::array list;
    bson::timestamp stamp;
};
BOOST_DESCRIBE_STRUCT(everything, (),
                      (id, text, yes, small, large, port, real, single, date, precise, wait, price,
                       key, blob, nick, absent, paint, at, path, pair, tags, counts, either, far,
                       raw, list, stamp))

}  // namespace mapping_types_test

template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_types_test::color> = mapping{
    rename(mapping_types_test::color::dark_blue, "dark-blue")};

namespace mapping_types_test {
namespace {

using bson::arr;
using bson::doc;
using bson::document;
using bson::from_bson;
using bson::null;
using bson::object;
using bson::to_bson;
using i64 = std::int64_t;

const auto shown = [](const bson::document& d) { return ::testing::PrintToString(d.bytes()); };

/// The value of a field is written as expected, and read back as it was.
template <class T, class Expected>
void expect_both_ways(const T& value, const Expected& expected)
{
    const auto written = to_bson(box<T>{value});
    ASSERT_TRUE(written) << written.error().message();
    EXPECT_EQ(*written, doc("v", expected)) << shown(*written);
    const auto read = from_bson<box<T>>(*written);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(read->v == value);
}

/// A document that we would not write, and what is read from it.
template <class T, class Stored>
void expect_read(const Stored& stored, const T& value)
{
    const auto read = from_bson<box<T>>(doc("v", stored));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(read->v == value);
}

TEST(mapping_types, numbers_and_strings_round_trip)
{
    expect_both_ways(true, true);
    expect_both_ways(std::int8_t{-5}, -5);
    expect_both_ways(std::uint16_t{65535}, 65535);
    expect_both_ways(std::uint32_t{5}, i64{5});
    expect_both_ways(std::uint64_t{1} << 62, i64{1} << 62);
    expect_both_ways(1.5F, 1.5);
    expect_both_ways(std::string{"caf\xC3\xA9"}, "caf\xC3\xA9");
    expect_read(i64{7}, std::int32_t{7});
    expect_read(7, 7.0);
    expect_read(7.0, i64{7});
    EXPECT_FALSE(to_bson(box<std::uint64_t>{UINT64_MAX}));
}

TEST(mapping_types, empty_optional_and_unique_ptr_write_no_field)
{
    expect_both_ways(std::optional{5}, 5);
    expect_both_ways(std::optional<point>{{1, 2}}, object("x", 1, "y", 2));
    EXPECT_EQ(to_bson(box<std::optional<int>>{}).value(), document{}) << "no field";
    EXPECT_EQ(to_bson(box<std::unique_ptr<int>>{}).value(), document{});
    expect_read(null{}, std::optional<int>{});
    expect_read(null{}, std::unique_ptr<int>{});
    EXPECT_EQ(from_bson<box<std::optional<int>>>(document{}).value().v, std::nullopt);
    EXPECT_EQ(*from_bson<box<std::unique_ptr<int>>>(doc("v", 5)).value().v, 5);

    // Where a place was asked for, an empty one is a null: else an array would lose elements.
    const std::vector<std::optional<int>> gaps{1, std::nullopt, 3};
    expect_both_ways(gaps, arr(1, null{}, 3));
    EXPECT_EQ(doc("a", std::optional<int>{}), doc("a", null{}));
    EXPECT_EQ(doc("a", 1)["b"].get<std::optional<int>>().value(), std::nullopt);
    expect_both_ways(std::map<std::string, std::optional<int>>{{"a", std::nullopt}},
                     object("a", null{}));
}

TEST(mapping_types, sequences_round_trip_as_arrays)
{
    expect_both_ways(std::vector<int>{}, arr());
    expect_both_ways(std::vector<int>{3, 1, 2}, arr(3, 1, 2));
    expect_both_ways(std::vector<bool>{true, false}, arr(true, false));
    expect_both_ways(std::vector<std::vector<int>>{{1}, {}}, arr(arr(1), arr()));
    expect_both_ways(std::vector<point>{{1, 2}}, arr(point{1, 2}));
    expect_both_ways(std::array<std::string, 2>{"a", "b"}, arr("a", "b"));
    expect_both_ways(std::set<int>{3, 1, 2}, arr(1, 2, 3));
    expect_read(arr(2, 1, 2), std::set<int>{1, 2});
    expect_both_ways(std::vector<int>(12, 7), arr(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7));
}

TEST(mapping_types, read_container_replaces_the_initialiser)
{
    const std::vector<std::uint8_t> three{3};
    const document stored = doc("list", arr(3), "set", arr(3), "map", object("b", 3), "bytes",
                                bson::binary{three});
    EXPECT_EQ(to_bson(from_bson<prefilled>(stored).value()).value(), stored);
}

TEST(mapping_types, maps_round_trip_as_documents)
{
    expect_both_ways(std::map<std::string, int>{{"b", 2}, {"a", 1}}, object("a", 1, "b", 2));
    expect_both_ways(std::map<std::string, point, std::less<>>{{"p", {1, 2}}},
                     object("p", point{1, 2}));
    expect_both_ways(std::unordered_map<std::string, double>{{"x", 0.5}}, object("x", 0.5));
    expect_read(object("a", 1, "a", 2), std::map<std::string, int>{{"a", 1}});

    using counts = std::map<std::string, int>;
    EXPECT_EQ(to_bson(counts{{"a", 1}}).value(), doc("a", 1)) << "also as a whole";
    EXPECT_EQ(from_bson<counts>(doc("a", 1, "b", 2)).value(), (counts{{"a", 1}, {"b", 2}}));
}

TEST(mapping_types, byte_sequences_round_trip_as_binary)
{
    const std::vector<std::uint8_t> blob{1, 2, 3};
    expect_both_ways(blob, bson::binary{blob});
    expect_both_ways(std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}},
                     bson::binary{blob});
    expect_both_ways(std::array<std::uint8_t, 3>{1, 2, 3}, bson::binary{blob});
    expect_both_ways(std::vector<std::uint8_t>{}, bson::binary{});
    expect_read(bson::binary{blob, bson::binary_subtype::binary_old}, blob);
}

TEST(mapping_types, time_points_round_trip_as_datetime)
{
    using std::chrono::sys_days;
    using std::chrono::sys_time;
    const auto ms = [](i64 n) { return bson::datetime{std::chrono::milliseconds{n}}; };
    expect_both_ways(ms(-1), ms(-1));
    expect_both_ways(sys_time<std::chrono::seconds>{-2s}, ms(-2000));
    expect_both_ways(sys_days{std::chrono::days{1}}, ms(86'400'000));
    expect_both_ways(sys_time<std::chrono::nanoseconds>{-5ms}, ms(-5));
    expect_read(ms(-1), sys_time<std::chrono::seconds>{-1s});
    EXPECT_EQ(to_bson(box{sys_time<std::chrono::nanoseconds>{-1ns}}).value(), doc("v", ms(-1)));
    EXPECT_EQ(to_bson(box{sys_time<std::chrono::microseconds>{1999us}}).value(), doc("v", ms(1)));
    expect_both_ways(sys_time<std::chrono::duration<double>>{std::chrono::duration<double>{1.5}},
                     ms(1500));
    using short_days = sys_time<std::chrono::duration<std::int32_t, std::chrono::days::period>>;
    EXPECT_FALSE(from_bson<box<short_days>>(doc("v", ms(INT64_MAX))));
    expect_both_ways(short_days::max(), ms(i64{INT32_MAX} * 86'400'000));
    EXPECT_FALSE(from_bson<box<sys_time<std::chrono::nanoseconds>>>(doc("v", ms(INT64_MIN))));

    expect_both_ways(1500ms, i64{1500});
    expect_both_ways(std::chrono::hours{-2}, i64{-2});
    expect_both_ways(std::chrono::duration<double>{0.25}, 0.25);
    expect_read(90, std::chrono::minutes{90});
}

TEST(mapping_types, enums_round_trip_as_their_names)
{
    expect_both_ways(color::green, "green");
    expect_both_ways(color::dark_blue, "dark-blue");
    expect_both_ways(std::vector{color::red, color::green}, arr("red", "green"));
    EXPECT_FALSE(from_bson<box<color>>(doc("v", "dark_blue"))) << "it has another name";
}

TEST(mapping_types, variant_reads_the_alternative_that_writes_the_type)
{
    using number = std::variant<double, i64, std::int32_t>;
    expect_both_ways(number{i64{5}}, i64{5});
    expect_both_ways(number{5.0}, 5.0);
    expect_both_ways(number{std::int32_t{5}}, 5);
    expect_read(5, std::variant<std::string, double, i64>{5.0});
    expect_both_ways(std::variant<std::monostate, std::string>{}, null{});
    expect_both_ways(std::variant<std::monostate, std::string>{"a"}, "a");

    using shape = std::variant<named_point, point, std::vector<int>>;
    expect_both_ways(shape{point{1, 2}}, object("x", 1, "y", 2));
    expect_both_ways(shape{named_point{1, "a"}}, object("x", 1, "name", "a"));
    expect_both_ways(shape{std::vector{1}}, arr(1));

    // The first alternative fails each time: many variants are not mistaken for nested ones.
    const std::vector<shape> many(20'000, point{1, 2});
    const auto read = from_bson<box<std::vector<shape>>>(to_bson(box{many}).value());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(read->v == many);
}

everything example()
{
    return {.id = {{1, 2, 3}},
            .text = "t",
            .yes = true,
            .small = 1,
            .large = 2,
            .port = 3,
            .real = 4.5,
            .single = 5.5F,
            .date = bson::datetime{6ms},
            .precise = std::chrono::system_clock::time_point{7ms},
            .wait = 8ms,
            .price = bson::decimal128::infinity(),
            .key = {{9}},
            .blob = {10},
            .nick = "n",
            .absent = {},
            .paint = color::green,
            .at = {11, 12},
            .path = {{13, 14}},
            .pair = {15, 16},
            .tags = {"a", "b"},
            .counts = {{"c", 17}},
            .either = "e",
            .far = std::make_unique<point>(18, 19),
            .raw = doc("r", 20),
            .list = arr(21),
            .stamp = {22, 23}};
}

TEST(mapping_types, struct_of_all_member_kinds_round_trips)
{
    const std::vector<std::uint8_t> blob{10};
    const document expected = doc(
        "id", bson::object_id{{1, 2, 3}}, "text", "t", "yes", true, "small", 1, "large", i64{2},
        "port", 3, "real", 4.5, "single", 5.5, "date", bson::datetime{6ms}, "precise",
        bson::datetime{7ms}, "wait", i64{8}, "price", bson::decimal128::infinity(), "key",
        bson::uuid{{9}}, "blob", bson::binary{blob}, "nick", "n", "paint", "green", "at",
        object("x", 11, "y", 12), "path", arr(object("x", 13, "y", 14)), "pair", arr(15.0, 16.0),
        "tags", arr("a", "b"), "counts", object("c", 17), "either", "e", "far",
        object("x", 18, "y", 19), "raw", object("r", 20), "list", arr(21), "stamp",
        bson::timestamp{22, 23});
    EXPECT_EQ(to_bson(example()).value(), expected);
    EXPECT_EQ(to_bson(from_bson<everything>(expected).value()).value(), expected);
}

TEST(mapping_types, struct_of_all_member_kinds_is_read_from_reversed_fields)
{
    const document forwards = to_bson(example()).value();
    const std::vector<bson::element> fields = [&] {
        std::vector<bson::element> all;
        for (const bson::element& e : forwards)
            all.insert(all.begin(), e);
        return all;
    }();
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& e : fields)
        out.copy(e);
    const auto read = from_bson<everything>(out.finish().value());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(to_bson(*read).value(), forwards);
}

}  // namespace
}  // namespace mapping_types_test
