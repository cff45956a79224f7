#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/storage/support.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace holdfast::lab::hostile_test {
namespace {

/// Nesting as deep as bytes allow, built by hand: a document in a document.
bson::document nested(int depth, bson::type as)
{
    std::vector<std::uint8_t> bytes = {5, 0, 0, 0, 0};
    for (int i = 0; i < depth; ++i) {
        std::vector<std::uint8_t> outer(4);
        outer.push_back(static_cast<std::uint8_t>(as));
        outer.insert(outer.end(), {'a', 0});
        outer.insert(outer.end(), bytes.begin(), bytes.end());
        outer.push_back(0);
        bson::layout::store(outer.data(), static_cast<std::uint32_t>(outer.size()));
        bytes = std::move(outer);
    }
    return bson::document::parse(bytes).value();
}

TEST(lab_hostile, deep_documents)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"x.a.a": 1}, "unique": true})");
    for (const bson::type as : {bson::type::document, bson::type::array}) {
        const bson::document deep = nested(2000, as);
        const bson::document made = bson::doc("_id", deep, "x", deep);
        (void)c.insert(made, at(1));
        (void)c.insert(made, at(2));
        (void)c.find_by_id(made["_id"]);
        EXPECT_FALSE(shell_text(made).empty());
        (void)read_index_spec(bson::doc("key", bson::doc("a", 1), "partialFilterExpression", deep));
        (void)read_index_spec(deep);
        (void)read_collection_options(deep);
    }
    EXPECT_LE(c.count(), 2U);
}

TEST(lab_hostile, arrays_of_arrays_make_a_bounded_number_of_keys)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a.b.c": 1}})");
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("_id", 1);
    {
        auto a = out.array("a");
        for (int i = 0; i < 500; ++i) {
            auto one = a.document();
            auto b = one.array("b");
            for (int k = 0; k < 500; ++k)
                b.document().add("c", k);
        }
    }
    const auto made = c.insert(*out.finish(), at(1));
    ASSERT_FALSE(made);
    EXPECT_EQ(c.count(), 0U);
}

TEST(lab_hostile, changed_bytes_never_lead_outside)
{
    const bson::document good = json(
        R"({"_id": {"k": [1, "two", {"$numberDecimal": "3"}]},
            "a": [{"b": 1, "c": "x"}, {"b": [2]}],
            "d": {"$binary": {"base64": "AQIDBA==", "subType": "02"}}, "key": {"a": 1},
            "e": {"$code": "f", "$scope": {"g": 1}}, "unique": true, "name": "n"})");
    std::mt19937 chance{7};
    collection c = make_collection();
    add_index(c, R"({"key": {"a.b": 1, "a.c": 1}, "unique": true})");
    add_index(c, R"({"key": {"d": 1, "e": -1}})");
    add_index(c, R"({"key": {"name": 1}, "partialFilterExpression": {"a.b": {"$gt": 0}}})");
    std::uint32_t time = 1;
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::uint8_t> bytes(good.bytes().begin(), good.bytes().end());
        for (unsigned k = chance() % 4; k != 0; --k)
            bytes[4 + chance() % (bytes.size() - 5)] = static_cast<std::uint8_t>(chance());
        const auto seen = bson::view::parse(bytes);
        if (!seen)
            continue;
        (void)read_index_spec(*seen);
        (void)read_collection_options(*seen);
        const auto made = c.insert(*seen, at(++time));
        if (made && chance() % 2 == 0)
            c.remove(*made, at(++time));
        else if (made)
            (void)c.replace(*made, *seen, at(++time));
        if (chance() % 100 == 0)
            c.forget_before(at(time));
    }
    c.remove_all(at(++time));
    EXPECT_EQ(c.count(), 0U);
    EXPECT_EQ(c.data_size(), 0);
}

}  // namespace
}  // namespace holdfast::lab::hostile_test
