#include "holdfast/bson/builder.hpp"

#include "holdfast/bson/canonical.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::bson::builder_test {
namespace {

using bytes = std::vector<std::uint8_t>;

bytes copy_of(view v)
{
    return {v.bytes().begin(), v.bytes().end()};
}

TEST(builder, examples_of_bsonspec_org_give_the_same_bytes)
{
    // The two examples of bsonspec.org.
    const std::string hello{"\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00", 22};
    EXPECT_EQ(copy_of(doc("hello", "world")), bytes(hello.begin(), hello.end()));
    const std::string list_of{
        "\x31\x00\x00\x00\x04"
        "BSON\x00\x26\x00\x00\x00"
        "\x02\x30\x00\x08\x00\x00\x00"
        "awesome\x00"
        "\x01\x31\x00\x33\x33\x33\x33\x33\x33\x14\x40"
        "\x10\x32\x00\xc2\x07\x00\x00\x00\x00",
        49};
    EXPECT_EQ(copy_of(doc("BSON", list("awesome", 5.05, 1986))),
              bytes(list_of.begin(), list_of.end()));
}

TEST(builder, every_type_round_trips)
{
    const object_id id{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    const bytes blob{1, 2, 3};
    const document scope = doc("x", 1);
    const document d = doc(
        "double", 1.5, "string", "text", "document", doc("a", 1), "array", arr(1, 2), "binary",
        binary{blob, binary_subtype::user_defined}, "undefined", undefined{}, "id", id, "true",
        true, "date", datetime{std::chrono::milliseconds{-5}}, "null", null{}, "regex",
        regex{"a+", "xi"}, "pointer", db_pointer{"db.c", id}, "code", code{"f()"}, "symbol",
        symbol{"s"}, "scoped", code_with_scope{"g()", scope.view()}, "int32", -1, "timestamp",
        timestamp{7, 8}, "int64", std::int64_t{1}, "decimal", decimal128{1, 2}, "min", min_key{},
        "max", max_key{}, "old", binary{blob, binary_subtype::binary_old});

    EXPECT_EQ(*d.get<double>("double"), 1.5);
    EXPECT_EQ(*d.get<std::string>("string"), "text");
    EXPECT_EQ(*d.get<document>("document"), doc("a", 1));
    EXPECT_EQ(*d.get<array>("array"), arr(1, 2));
    EXPECT_EQ(*d.get<binary>("binary"), (binary{blob, binary_subtype::user_defined}));
    EXPECT_TRUE(d.get<undefined>("undefined"));
    EXPECT_EQ(*d.get<object_id>("id"), id);
    EXPECT_EQ(*d.get<bool>("true"), true);
    EXPECT_EQ(d.get<datetime>("date")->time_since_epoch().count(), -5);
    EXPECT_TRUE(d.get<null>("null"));
    EXPECT_EQ(*d.get<regex>("regex"), (regex{"a+", "ix"}));
    EXPECT_EQ(*d.get<db_pointer>("pointer"), (db_pointer{"db.c", id}));
    EXPECT_EQ(*d.get<code>("code"), code{"f()"});
    EXPECT_EQ(*d.get<symbol>("symbol"), symbol{"s"});
    EXPECT_EQ(*d.get<code_with_scope>("scoped"), (code_with_scope{"g()", scope.view()}));
    EXPECT_EQ(*d.get<int>("int32"), -1);
    EXPECT_EQ(*d.get<timestamp>("timestamp"), (timestamp{7, 8}));
    EXPECT_EQ(d["int64"].type(), type::int64);
    EXPECT_EQ(*d.get<decimal128>("decimal"), (decimal128{1, 2}));
    EXPECT_TRUE(d.get<min_key>("min"));
    EXPECT_TRUE(d.get<max_key>("max"));
    EXPECT_EQ(*d.get<binary>("old"), (binary{blob, binary_subtype::binary_old}));
    EXPECT_EQ(d["old"].value_bytes().size(), 12u);
    EXPECT_EQ(*canonical(d), d);
}

TEST(builder, nested_builders_give_the_same_bytes_as_expressions)
{
    byte_buffer out;
    builder b{out};
    b.add("a", 1);
    {
        auto inner = b.document("b");
        inner.add("c", "x");
        auto items = inner.array("d");
        items.add(1).add("two");
        items.document().add("e", true);
        items.array().add(2.5);
    }
    b.add("z", null{});
    ASSERT_TRUE(b.finish());
    EXPECT_EQ(document::adopt(std::move(out)),
              doc("a", 1, "b", object("c", "x", "d", list(1, "two", object("e", true), list(2.5))),
                  "z", null{}));
}

template <class Buffer>
class builder_into : public testing::Test {};
using buffers = testing::Types<byte_buffer, std::vector<std::uint8_t>, std::string,
                               std::vector<char>, std::vector<std::byte>>;
TYPED_TEST_SUITE(builder_into, buffers);

TYPED_TEST(builder_into, any_growable_buffer_appends_after_existing_bytes)
{
    TypeParam out;
    grow(out, 3)[0] = 42;
    basic_builder<TypeParam> b{out};
    b.add("a", std::string(1000, 'x')).add("b", 2);
    const auto done = b.finish();
    ASSERT_TRUE(done);
    EXPECT_EQ(*done, doc("a", std::string(1000, 'x'), "b", 2).view());
    EXPECT_EQ(out.size(), 3 + done->size());
    EXPECT_EQ(static_cast<std::uint8_t>(out.data()[0]), 42);
}

TEST(builder, array_keys_count_up_in_decimal)
{
    array_index index;
    for (int i = 0; i < 12345; ++i)
        ASSERT_EQ(index.next(), std::to_string(i));
}

TEST(builder, zero_byte_in_a_key_is_reported_by_finish)
{
    using namespace std::string_literals;
    byte_buffer out;
    builder b{out};
    {
        auto inner = b.document("in");
        inner.add("a\0b"s, 1).add("c\0d"s, 2);
    }
    const auto done = b.finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), errc::invalid_key);
    EXPECT_EQ(done.error().message(), "a\\0b: a key must not contain a zero byte");
    EXPECT_THROW(doc("a\0b"s, 1), failure);
}

TEST(builder, values_without_a_bson_form_throw_failure)
{
    using namespace std::string_literals;
    EXPECT_THROW(doc("a", UINT64_MAX), failure);
    EXPECT_THROW(doc("a", regex{"x\0y"s}), failure);
    EXPECT_THROW(doc("a", doc()["missing"]), failure);
}

TEST(builder, copy_and_merge_append_elements)
{
    const document from = doc("a", 1, "b", list(1, 2));
    byte_buffer out;
    builder b{out};
    b.copy(from["b"]).copy("c", from["a"]).merge(from);
    EXPECT_EQ(*b.finish(), doc("b", list(1, 2), "c", 1, "a", 1, "b", list(1, 2)).view());
}

TEST(builder, integer_types_map_to_the_narrowest_bson_type)
{
    const document d = doc("u8", std::uint8_t{200}, "i16", std::int16_t{-3}, "u32", 4000000000U,
                           "ll", 5LL, "u64", std::uint64_t{6});
    EXPECT_EQ(d["u8"].type(), type::int32);
    EXPECT_EQ(d["i16"].type(), type::int32);
    EXPECT_EQ(d["u32"].type(), type::int64);
    EXPECT_EQ(d["ll"].type(), type::int64);
    EXPECT_EQ(d["u64"].type(), type::int64);
    EXPECT_EQ(*d.get<std::int64_t>("u32"), 4000000000);
}

TEST(canonical, array_keys_and_regex_options_are_repaired)
{
    byte_buffer out;
    builder b{out};
    b.put_raw(type::array, "a", doc("x", 1, "", 2).bytes());
    const std::uint8_t unsorted[] = {'r', 0, 'x', 'i', 0};
    b.put_raw(type::regex, "r", unsorted);
    const auto repaired = canonical(*b.finish());
    ASSERT_TRUE(repaired);
    EXPECT_EQ(*repaired, doc("a", list(1, 2), "r", regex{"r", "ix"}));
}

TEST(canonical, regex_options_stay_valid_utf8)
{
    const document odd = doc("a", regex{"x", "\xC3\xA9"});
    EXPECT_EQ(*canonical(odd), odd);
    EXPECT_EQ(odd["a"].as_regex().options, "\xC3\xA9");
}

TEST(canonical, nesting_deeper_than_max_depth_is_refused)
{
    document d;
    for (int i = 1; i < max_depth; ++i)
        d = doc("d", d);
    EXPECT_TRUE(canonical(d));
    for (const document& deeper : {doc("d", d), doc("a", list(d)), doc("d", doc("a", d))})
        EXPECT_EQ(canonical(deeper).error().code(), errc::too_deep);
}

TEST(builder, code_with_scope_is_written_in_place)
{
    byte_buffer out;
    builder b{out};
    {
        auto scope = b.code_with_scope("f", "x + y");
        scope.add("x", 1).add("y", list(2, 3));
    }
    b.add("z", true);
    const document scope = doc("x", 1, "y", list(2, 3));
    EXPECT_EQ(*b.finish(), doc("f", code_with_scope{"x + y", scope.view()}, "z", true).view());
}

TEST(builder, keys_of_every_length_are_checked_for_zero_bytes)
{
    for (std::size_t size = 0; size < 40; ++size) {
        std::string key;
        for (std::size_t i = 0; i < size; ++i)
            key += static_cast<char>('a' + i % 26);
        EXPECT_EQ(doc(key, 1).begin()->key(), key);
        for (std::size_t i = 0; i < size; ++i) {
            std::string bad = key;
            bad[i] = '\0';
            EXPECT_THROW(doc(bad, 1), failure) << size << ' ' << i;
        }
    }
}

}  // namespace
}  // namespace holdfast::bson::builder_test
