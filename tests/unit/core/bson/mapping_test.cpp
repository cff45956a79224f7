#include "holdfast/bson/mapping.hpp"

#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapping_test {

namespace bson = holdfast::bson;
using namespace std::chrono_literals;

struct address {
    std::string street;
    int zip = 0;
    friend bool operator==(const address&, const address&) = default;
};
BOOST_DESCRIBE_STRUCT(address, (), (street, zip))

struct account {
    std::string owner;
    double balance = 0;
    address home;
    friend bool operator==(const account&, const account&) = default;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance, home))

struct ruled {
    int id = 1;
    std::string note = "none";
    int cache = 7;
    std::optional<int> limit = 10;
    friend bool operator==(const ruled&, const ruled&) = default;
};
BOOST_DESCRIBE_STRUCT(ruled, (), (id, note, cache, limit))

struct lenient {
    int a = 1;
    int b = 2;
    friend bool operator==(const lenient&, const lenient&) = default;
};
BOOST_DESCRIBE_STRUCT(lenient, (), (a, b))

struct four {
    int a = 0, bb = 0, c = 0, dd = 0;
    friend bool operator==(const four&, const four&) = default;
};
BOOST_DESCRIBE_STRUCT(four, (), (a, bb, c, dd))

struct entity {
    int id = 0;
    int version = 0;
};
struct user : entity {
    std::string name;
};
BOOST_DESCRIBE_STRUCT(entity, (), (id, version))
BOOST_DESCRIBE_STRUCT(user, (entity), (name))

class guarded {
public:
    guarded() = default;
    explicit guarded(int secret) : secret_{secret} {}
    friend bool operator==(const guarded&, const guarded&) = default;

private:
    int secret_ = 0;
    BOOST_DESCRIBE_CLASS(guarded, (), (), (), (secret_))
};

struct nothing {
    friend bool operator==(const nothing&, const nothing&) = default;
};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

struct tree {
    int value = 0;
    std::unique_ptr<tree> left, right;
    std::vector<tree> others;
};
BOOST_DESCRIBE_STRUCT(tree, (), (value, left, right, others))

struct glance {
    std::string_view text;
    bson::view inner;
};
BOOST_DESCRIBE_STRUCT(glance, (), (text, inner))

/// A type with an invariant and no default: only its codec knows how to make one.
class money {
public:
    explicit money(std::int64_t cents) : cents_{cents} {}
    std::int64_t cents() const { return cents_; }
    friend auto operator<=>(const money&, const money&) = default;

private:
    std::int64_t cents_;
};
struct purse {
    std::optional<money> gold;
    std::vector<money> silver;
    std::map<std::string, money> other;
};
BOOST_DESCRIBE_STRUCT(purse, (), (gold, silver, other))

}  // namespace mapping_test

template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_test::ruled> = mapping{
    rename(&mapping_test::ruled::id, "_id"),
    defaulted(&mapping_test::ruled::note),
    skip(&mapping_test::ruled::cache),
};
template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_test::lenient> = mapping{all_defaulted};
template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_test::entity> = mapping{
    rename(&mapping_test::entity::id, "_id"),
    rename(&mapping_test::entity::version, "v"),
};
template <>
inline constexpr auto holdfast::bson::mapping_of<mapping_test::user> = mapping{
    rename(&mapping_test::user::version, "version")};

template <>
struct holdfast::bson::codec<mapping_test::money> {
    static result<mapping_test::money> read(const element& from)
    {
        auto cents = from.get<std::int64_t>();
        if (!cents)
            return std::move(cents).error();
        if (*cents < 0)
            return error{errc::invalid_value, "money is never negative"};
        return mapping_test::money{*cents};
    }
    static void write(auto& out, std::string_view key, const mapping_test::money& value)
    {
        out.add(key, value.cents());
    }
};

namespace mapping_test {
namespace {

using bson::arr;
using bson::doc;
using bson::document;
using bson::from_bson;
using bson::list;
using bson::object;
using bson::to_bson;

const account ada{"ada", 1.5, {"Strand", 12}};
const document ada_stored = doc("owner", "ada", "balance", 1.5, "home",
                                object("street", "Strand", "zip", 12));

TEST(mapping, struct_members_become_fields_in_order)
{
    EXPECT_EQ(to_bson(ada).value(), ada_stored);
    EXPECT_EQ(from_bson<account>(ada_stored).value(), ada);
}

TEST(mapping, described_struct_is_accepted_as_a_value)
{
    const document strand = doc("street", "Strand", "zip", 12);
    EXPECT_EQ(doc("home", ada.home), doc("home", strand));
    EXPECT_EQ(arr(ada.home, 1), arr(strand, 1));
    EXPECT_EQ(doc("homes", list(ada.home)), doc("homes", list(strand)));
    EXPECT_EQ(ada_stored["home"].get<address>().value(), ada.home);
    EXPECT_EQ(ada_stored.get<address>("home").value(), ada.home);
    EXPECT_EQ(doc("a", arr(strand)).get<std::vector<address>>("a").value(), std::vector{ada.home});
}

TEST(mapping, member_rules_rename_default_and_skip)
{
    EXPECT_EQ(to_bson(ruled{5, "x", 3, 4}).value(), doc("_id", 5, "note", "x", "limit", 4));
    EXPECT_EQ(from_bson<ruled>(doc("_id", 5, "cache", 3)).value(),
              (ruled{5, "none", 7, std::nullopt}))
        << "note keeps its initialiser, cache is not read, an optional becomes empty";
    EXPECT_FALSE(from_bson<ruled>(doc("id", 5))) << "id is called _id now";
}

TEST(mapping, all_defaulted_struct_reads_the_empty_document)
{
    EXPECT_EQ(from_bson<lenient>(doc()).value(), lenient{});
    EXPECT_EQ(from_bson<lenient>(doc("b", 5)).value(), (lenient{1, 5}));
}

TEST(mapping, base_members_come_first_with_their_rules)
{
    user u;
    u.id = 1;
    u.version = 2;
    u.name = "ada";
    const document stored = doc("_id", 1, "version", 2, "name", "ada");
    EXPECT_EQ(to_bson(u).value(), stored) << "the derived struct overrules the name of version";
    const user again = from_bson<user>(stored).value();
    EXPECT_EQ(again.id, 1);
    EXPECT_EQ(again.version, 2);
    EXPECT_EQ(again.name, "ada");
    EXPECT_EQ(to_bson(entity{3, 4}).value(), doc("_id", 3, "v", 4));
}

TEST(mapping, private_members_can_be_described)
{
    EXPECT_EQ(to_bson(guarded{5}).value(), doc("secret_", 5));
    EXPECT_EQ(from_bson<guarded>(doc("secret_", 6)).value(), guarded{6});
}

TEST(mapping, struct_without_members_is_the_empty_document)
{
    EXPECT_EQ(to_bson(nothing{}).value(), document{});
    EXPECT_EQ(from_bson<nothing>(doc("any", 1)).value(), nothing{});
}

/// Every order of the four fields, with a foreign field and a late repetition at every place.
TEST(mapping, fields_in_any_order_are_found)
{
    std::vector<std::string_view> keys{"a", "bb", "c", "dd"};
    const auto value_of = [](std::string_view key) { return key[0] - 'a' + 1; };
    int orders = 0;
    do {
        for (std::size_t foreign = 0; foreign <= keys.size(); ++foreign) {
            bson::byte_buffer bytes;
            bson::builder out{bytes};
            for (std::size_t i = 0; i <= keys.size(); ++i) {
                if (i == foreign) {
                    out.add("x", "foreign");
                    if (i != 0)
                        out.add(keys[i - 1], "a repetition, never looked at");
                }
                if (i < keys.size())
                    out.add(keys[i], value_of(keys[i]));
            }
            const auto read = from_bson<four>(out.finish().value());
            ASSERT_TRUE(read) << read.error().message();
            ASSERT_EQ(*read, (four{1, 2, 3, 4})) << keys[0] << keys[1] << keys[2] << keys[3];
            ++orders;
        }
    } while (std::ranges::next_permutation(keys).found);
    EXPECT_EQ(orders, 24 * 5);
}

TEST(mapping, missing_field_is_reported_at_every_position)
{
    const char* const keys[] = {"a", "bb", "c", "dd"};
    for (const std::string_view left_out : keys) {
        for (const bool backwards : {false, true}) {
            bson::byte_buffer bytes;
            bson::builder out{bytes};
            for (int i = 0; i < 4; ++i) {
                const std::string_view key = keys[backwards ? 3 - i : i];
                if (key != left_out)
                    out.add(key, 1);
            }
            const auto read = from_bson<four>(out.finish().value());
            ASSERT_FALSE(read);
            EXPECT_EQ(read.error().message(), std::string{left_out} + ": missing");
        }
    }
}

TEST(mapping, first_of_two_equal_keys_is_read)
{
    const document twice = doc("street", "first", "street", "second", "zip", 1, "zip", "x");
    EXPECT_EQ(from_bson<address>(twice).value(), (address{"first", 1}));
    EXPECT_EQ(twice.get<std::string>("street").value(), "first") << "as for a look-up";
}

TEST(mapping, recursive_struct_round_trips)
{
    tree root{1, std::make_unique<tree>(), nullptr, {}};
    root.left->value = 2;
    root.left->others.resize(2);
    root.left->others[1].value = 4;
    const document stored = doc(
        "value", 1, "left",
        object("value", 2, "others",
               list(object("value", 0, "others", list()), object("value", 4, "others", list()))),
        "others", list());
    EXPECT_EQ(to_bson(root).value(), stored);

    const tree again = from_bson<tree>(stored).value();
    ASSERT_TRUE(again.left);
    EXPECT_FALSE(again.right);
    ASSERT_EQ(again.left->others.size(), 2U);
    EXPECT_EQ(again.left->others[1].value, 4);
}

document nested_trees(int levels)
{
    document inner = doc("value", 1, "others", list());
    for (int i = 1; i < levels; ++i)
        inner = doc("value", 1, "left", inner, "others", list());
    return inner;
}

TEST(mapping, nesting_beyond_max_depth_is_refused)
{
    // The innermost tree has an array, which counts as a level of its own.
    EXPECT_TRUE(from_bson<tree>(nested_trees(bson::max_depth - 1)));
    for (const int levels : {bson::max_depth, bson::max_depth + 1, 2000}) {
        const auto read = from_bson<tree>(nested_trees(levels));
        ASSERT_FALSE(read) << levels;
        EXPECT_EQ(read.error().code(), bson::errc::too_deep);
    }
}

TEST(mapping, append_bson_rolls_back_on_error)
{
    bson::byte_buffer out;
    *out.grow(1) = 0xAB;
    const bson::view written = bson::append_bson(out, ada.home).value();
    EXPECT_EQ(written.data(), out.data() + 1);
    EXPECT_EQ(written, doc("street", "Strand", "zip", 12).view());
    EXPECT_EQ(out.size(), 1 + written.size());

    const std::map<std::string, int> bad{{"a", 1}, {std::string{"b\0c", 3}, 2}};
    const auto failed = bson::append_bson(out, bad);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), bson::errc::invalid_key);
    EXPECT_EQ(out.size(), 1 + written.size());
    EXPECT_FALSE(to_bson(bad));
}

TEST(mapping, view_members_point_into_the_document)
{
    const document stored = doc("text", "seen in place", "inner", object("a", 1));
    const glance seen = from_bson<glance>(stored).value();
    EXPECT_EQ(seen.text, "seen in place");
    EXPECT_EQ(seen.inner, doc("a", 1).view());
    EXPECT_EQ(static_cast<const void*>(seen.text.data()), stored.bytes().data() + 14);
}

TEST(mapping, custom_codec_works_in_members_lists_and_maps)
{
    const purse full{money{5}, {money{1}, money{2}}, {{"copper", money{9}}}};
    const document stored = doc("gold", std::int64_t{5}, "silver",
                                list(std::int64_t{1}, std::int64_t{2}), "other",
                                object("copper", std::int64_t{9}));
    EXPECT_EQ(to_bson(full).value(), stored);
    const purse again = from_bson<purse>(stored).value();
    EXPECT_EQ(again.gold, full.gold);
    EXPECT_EQ(again.silver, full.silver);
    EXPECT_EQ(again.other, full.other);

    const auto negative = from_bson<purse>(doc("silver", list(1, -2), "other", object()));
    ASSERT_FALSE(negative);
    EXPECT_EQ(negative.error().message(), "silver.1: money is never negative");
    EXPECT_EQ(negative.error().context("path"), "silver.1");
}

}  // namespace
}  // namespace mapping_test
