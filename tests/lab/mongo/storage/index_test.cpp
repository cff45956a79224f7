#include "lab/mongo/storage/collection.hpp"
#include "lab/mongo/storage/support.hpp"

#include <string>
#include <vector>

namespace holdfast::lab::index_test {
namespace {

struct unique_row {
    const char* about;
    const char* spec;
    const char* first;
    const char* second;
    bool refused;
    const char* dup_key = "";
};

class lab_unique : public testing::TestWithParam<unique_row> {};

TEST_P(lab_unique, refuses_duplicates)
{
    const unique_row& row = GetParam();
    SCOPED_TRACE(row.about);
    collection c = make_collection();
    add_index(c, row.spec);
    add(c, row.first);
    const auto made = c.insert(json(row.second), at(2));
    EXPECT_EQ(made.has_value(), !row.refused);
    if (!made) {
        EXPECT_EQ(code_of(made.error()), 11000);
        EXPECT_NE(made.error().message().find(row.dup_key), std::string::npos)
            << made.error().message();
    }
    EXPECT_EQ(c.count(), row.refused ? 1U : 2U);

    // The same by building the index afterwards.
    collection later = make_collection();
    add(later, row.first);
    add(later, row.second);
    auto spec = read_index_spec(json(row.spec));
    ASSERT_TRUE(spec);
    const auto built = later.create_index(*spec);
    EXPECT_EQ(built.has_value(), !row.refused);
    EXPECT_EQ(later.indexes().size(), row.refused ? 1U : 2U);

    // And by an update.
    collection changed = make_collection();
    add_index(changed, row.spec);
    add(changed, row.first);
    const record_id which = add(
        changed, R"({"_id": 2, "a": "unlike all others", "b": "and this", "in": "no"})");
    EXPECT_EQ(changed.replace(which, json(row.second), at(3)).has_value(), !row.refused);
}

INSTANTIATE_TEST_SUITE_P(
    all, lab_unique,
    testing::Values(
        unique_row{"plain", R"({"key": {"a": 1}, "unique": true})", R"({"_id": 1, "a": 1})",
                   R"({"_id": 2, "a": 1})", true, "index: a_1 dup key: { a: 1 }"},
        unique_row{"numbers of different types", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": {"$numberLong": "1"}})", true,
                   "dup key: { a: 1 }"},
        unique_row{"text", R"({"key": {"a": 1}, "unique": true})", R"({"_id": 1, "a": "x"})",
                   R"({"_id": 2, "a": "x"})", true, R"(dup key: { a: "x" })"},
        unique_row{"not unique", R"({"key": {"a": 1}})", R"({"_id": 1, "a": 1})",
                   R"({"_id": 2, "a": 1})", false},
        unique_row{"prepared to be", R"({"key": {"a": 1}, "prepareUnique": true})",
                   R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 1})", true, "{ a: 1 }"},
        unique_row{"missing is null", R"({"key": {"a": 1}, "unique": true})", R"({"_id": 1})",
                   R"({"_id": 2, "a": null})", true, "dup key: { a: null }"},
        unique_row{"sparse leaves out the missing",
                   R"({"key": {"a": 1}, "unique": true, "sparse": true})", R"({"_id": 1})",
                   R"({"_id": 2})", false},
        unique_row{"sparse has null", R"({"key": {"a": 1}, "unique": true, "sparse": true})",
                   R"({"_id": 1, "a": null})", R"({"_id": 2, "a": null})", true, "{ a: null }"},
        unique_row{"sparse and compound: one field is enough",
                   R"({"key": {"a": 1, "b": 1}, "unique": true, "sparse": true})",
                   R"({"_id": 1, "b": 1})", R"({"_id": 2, "b": 1})", true, "{ a: null, b: 1 }"},
        unique_row{"partial, in it",
                   R"({"key": {"a": 1}, "unique": true,
                       "partialFilterExpression": {"in": "yes"}})",
                   R"({"_id": 1, "a": 1, "in": "yes"})", R"({"_id": 2, "a": 1, "in": "yes"})", true,
                   "{ a: 1 }"},
        unique_row{"partial, one outside",
                   R"({"key": {"a": 1}, "unique": true,
                       "partialFilterExpression": {"in": "yes"}})",
                   R"({"_id": 1, "a": 1, "in": "yes"})", R"({"_id": 2, "a": 1, "in": "no"})",
                   false},
        unique_row{"collation", R"({"key": {"a": 1}, "unique": true,
                                    "collation": {"locale": "en", "strength": 2}})",
                   R"({"_id": 1, "a": "x"})", R"({"_id": 2, "a": "X"})", true, "collation: {"},
        unique_row{"without one case matters", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": "x"})", R"({"_id": 2, "a": "X"})", false},
        unique_row{"an element of an array", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": [1, 2]})", R"({"_id": 2, "a": [3, 2]})", true, "{ a: 2 }"},
        unique_row{"arrays without a common element", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": [1, 2]})", R"({"_id": 2, "a": [3, 4]})", false},
        unique_row{"twice in one document is no duplicate", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": [1, 1]})", R"({"_id": 2, "a": [2, 2, 2]})", false},
        unique_row{"empty arrays", R"({"key": {"a": 1}, "unique": true})", R"({"_id": 1, "a": []})",
                   R"({"_id": 2, "a": []})", true, "{ a: undefined }"},
        unique_row{"an empty array is not null", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": []})", R"({"_id": 2, "a": null})", false},
        unique_row{"an array in an array is a value", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": [[1]]})", R"({"_id": 2, "a": [1]})", false},
        unique_row{"compound with an array", R"({"key": {"a": 1, "b": -1}, "unique": true})",
                   R"({"_id": 1, "a": 1, "b": [1, 2]})", R"({"_id": 2, "a": 1, "b": 2})", true,
                   "index: a_1_b_-1 dup key: { a: 1, b: 2 }"},
        unique_row{"compound, half the same", R"({"key": {"a": 1, "b": -1}, "unique": true})",
                   R"({"_id": 1, "a": 1, "b": 1})", R"({"_id": 2, "a": 1, "b": 2})", false},
        unique_row{"dotted", R"({"key": {"a.b": 1}, "unique": true})",
                   R"({"_id": 1, "a": {"b": 1}})", R"({"_id": 2, "a": [{"b": 3}, {"b": 1}]})", true,
                   "index: a.b_1 dup key: { a.b: 1 }"},
        unique_row{"two fields of one array go together",
                   R"({"key": {"a.b": 1, "a.c": 1}, "unique": true})",
                   R"({"_id": 1, "a": [{"b": 1, "c": 2}, {"b": 3, "c": 4}]})",
                   R"({"_id": 2, "a": {"b": 1, "c": 4}})", false},
        unique_row{"by position", R"({"key": {"a.0": 1}, "unique": true})",
                   R"({"_id": 1, "a": [1, 2]})", R"({"_id": 2, "a": [1, 3]})", true, "{ a.0: 1 }"},
        unique_row{"nested objects", R"({"key": {"a": 1}, "unique": true})",
                   R"({"_id": 1, "a": {"b": 1}})", R"({"_id": 2, "a": {"b": 1}})", true,
                   "{ a: { b: 1 } }"},
        unique_row{"hashed", R"({"key": {"a": "hashed"}})", R"({"_id": 1, "a": 1})",
                   R"({"_id": 2, "a": 1})", false}));

TEST(lab_index, duplicate_key_error_has_key_pattern_and_value)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1, "b": -1}, "name": "mine", "unique": true})");
    add(c, R"({"_id": 1, "a": 1, "b": "x"})");
    const auto again = c.insert(json(R"({"_id": 2, "a": 1, "b": "x"})"), at(1));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message(), R"(E11000 duplicate key error collection: db.c index: mine )"
                                       R"(dup key: { a: 1, b: "x" })");
    EXPECT_EQ(again.error().context("keyPattern"), R"({"a":1,"b":-1})");
    EXPECT_EQ(again.error().context("keyValue"), R"({"a":1,"b":"x"})");
}

TEST(lab_index, parallel_arrays_are_refused)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1, "b": 1}})");
    const auto made = c.insert(json(R"({"_id": 1, "a": [1, 2], "b": [3, 4]})"), at(1));
    ASSERT_FALSE(made);
    EXPECT_EQ(code_of(made.error()), 171);
    EXPECT_EQ(made.error().message(), "cannot index parallel arrays [b] [a]");
    EXPECT_EQ(c.count(), 0U);
}

TEST(lab_index, a_removed_or_changed_document_frees_its_key)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1}, "unique": true})");
    const record_id one = add(c, R"({"_id": 1, "a": [1, 2]})");
    EXPECT_TRUE(c.replace(one, json(R"({"_id": 1, "a": [2, 3]})"), at(2)));
    add(c, R"({"_id": 2, "a": 1})", 3);
    EXPECT_FALSE(c.insert(json(R"({"_id": 3, "a": 3})"), at(3)));
    c.remove(one, at(4));
    add(c, R"({"_id": 3, "a": 3})", 5);
}

TEST(lab_index, finds_equal_values)
{
    collection c = make_collection();
    EXPECT_FALSE(c.has_index_on("a"));
    EXPECT_TRUE(c.has_index_on("_id"));
    add_index(c, R"({"key": {"a": 1, "b": 1}})");
    add_index(c, R"({"key": {"s": 1}, "sparse": true})");
    add_index(c, R"({"key": {"t": 1}, "collation": {"locale": "en", "strength": 1}})");
    add_index(c, R"({"key": {"h": 1}, "hidden": true})");
    add_index(c, R"({"key": {"p": 1}, "partialFilterExpression": {"a": 1}})");
    add_index(c, R"({"key": {"d": -1}})");
    EXPECT_TRUE(c.has_index_on("a"));
    EXPECT_TRUE(c.has_index_on("d"));
    for (const char* other : {"b", "s", "t", "h", "p", "", "a.b"})
        EXPECT_FALSE(c.has_index_on(other)) << other;
    const record_id one = add(c, R"({"_id": 1, "a": 5, "b": 9})");
    const record_id two = add(c, R"({"_id": 2, "a": [5, 6, 5], "b": 1})");
    add(c, R"({"_id": 3, "a": "5"})");
    const record_id four = add(c, R"({"_id": 4, "a": 5.0})");
    EXPECT_EQ(c.find_equal("a", json(R"({"": {"$numberLong": "5"}})")[""]),
              (std::vector<record_id>{one, two, four}));
    EXPECT_EQ(c.find_equal("a", json(R"({"": 6})")[""]), std::vector<record_id>{two});
    EXPECT_TRUE(c.find_equal("a", json(R"({"": 7})")[""]).empty());
    EXPECT_EQ(c.find_equal("_id", json(R"({"": 4})")[""]), std::vector<record_id>{four});
}

struct conflict_row {
    const char* first;
    const char* second;
    int code;  // 0: a second index, 1: nothing to do
};

TEST(lab_index, creating_it_again)
{
    const conflict_row rows[] = {
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1}})", 1},
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1.0}})", 1},
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1}, "unique": true})", 86},
        {R"({"key": {"a": 1}})", R"({"key": {"b": 1}, "name": "a_1"})", 86},
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1}, "name": "other"})", 85},
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1}, "expireAfterSeconds": 5})", 85},
        {R"({"key": {"a": 1}})", R"({"key": {"a": -1}})", 0},
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1}, "name": "x", "unique": true})", 0},
        {R"({"key": {"a": 1}})", R"({"key": {"a": 1}, "name": "x", "collation": {"locale": "en"}})",
         0},
        {R"({"key": {"a": 1}})", R"({"key": {"b": 1}, "name": "_id_"})", 86},
        {R"({"key": {"a": 1}})", R"({"key": {"_id": 1}})", 1},
    };
    for (const conflict_row& row : rows) {
        SCOPED_TRACE(row.second);
        collection c = make_collection();
        add_index(c, row.first);
        auto spec = read_index_spec(json(row.second));
        ASSERT_TRUE(spec) << spec.error().message();
        const auto made = c.create_index(*spec);
        EXPECT_EQ(made ? (*made ? 0 : 1) : code_of(made.error()), row.code);
        EXPECT_EQ(c.indexes().size(), row.code == 0 ? 3U : 2U);
    }
}

TEST(lab_index, dropping)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1}})");
    EXPECT_EQ(code_of(c.drop_index("b_1").error()), 27);
    EXPECT_EQ(c.drop_index("b_1").error().message(), "index not found with name [b_1]");
    EXPECT_EQ(code_of(c.drop_index("_id_").error()), 72);
    EXPECT_TRUE(c.drop_index("a_1"));
    ASSERT_EQ(c.indexes().size(), 1U);
    EXPECT_EQ(text(c.indexes()[0].raw), R"({"v":2,"key":{"_id":1},"name":"_id_"})");
    EXPECT_EQ(c.index_named("a_1"), nullptr);
    EXPECT_NE(c.index_named("_id_"), nullptr);
}

TEST(lab_index, unique_index_is_created_only_without_duplicates)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1}})");
    add(c, R"({"_id": 1, "a": 1})");
    add(c, R"({"_id": 2, "a": 1})");
    add(c, R"({"_id": 3, "a": 2})");
    index_spec changed = *c.index_with_key(json(R"({"a": 1})"));
    changed.prepare_unique = true;
    EXPECT_TRUE(c.change_index(changed).empty());
    EXPECT_FALSE(c.insert(json(R"({"_id": 4, "a": 2})"), at(2)));
    const auto first = c.next(0);
    EXPECT_TRUE(c.replace(first->id, json(R"({"_id": 1, "a": 1, "x": 1})"), at(2)))
        << "an old duplicate may stay";
    changed.unique = true;
    const auto groups = c.change_index(changed);
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups[0].size(), 2U);
    EXPECT_EQ(text(groups[0][0]), R"({"_id":1})");
    EXPECT_EQ(text(groups[0][1]), R"({"_id":2})");
    EXPECT_FALSE(c.index_named("a_1")->unique);
    c.remove(first->id, at(3));
    EXPECT_TRUE(c.change_index(changed).empty());
    EXPECT_EQ(text(c.index_named("a_1")->raw),
              R"({"v":2,"key":{"a":1},"name":"a_1","unique":true})");
    changed.hidden = true;
    changed.expire_after_seconds = 7;
    EXPECT_TRUE(c.change_index(changed).empty());
    EXPECT_EQ(text(c.index_named("a_1")->raw),
              R"({"v":2,"key":{"a":1},"name":"a_1","unique":true,"hidden":true,)"
              R"("expireAfterSeconds":7})");
}

TEST(lab_index, index_inherits_the_collation_of_its_collection)
{
    collection c = make_collection(R"({"collation": {"locale": "en", "strength": 2}})");
    add_index(c, R"({"key": {"a": 1}, "unique": true})");
    add_index(c, R"({"key": {"b": 1}, "unique": true, "collation": {"locale": "simple"}})");
    add(c, R"({"_id": 1, "a": "x", "b": "x"})");
    EXPECT_FALSE(c.insert(json(R"({"_id": 2, "a": "X", "b": "y"})"), at(1)));
    EXPECT_TRUE(c.insert(json(R"({"_id": 2, "a": "y", "b": "X"})"), at(1)));
    EXPECT_TRUE(c.index_named("a_1")->raw["collation"]);
    EXPECT_FALSE(c.index_named("b_1")->raw["collation"]);
}

}  // namespace
}  // namespace holdfast::lab::index_test
