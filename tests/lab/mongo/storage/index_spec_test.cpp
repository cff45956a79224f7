#include "lab/mongo/storage/catalog.hpp"
#include "lab/mongo/storage/collection.hpp"
#include "lab/mongo/storage/support.hpp"

#include <string>

namespace holdfast::lab::index_spec_test {
namespace {

struct spec_row {
    const char* from;
    const char* raw;
};

TEST(lab_index_spec, index_specification_is_normalised)
{
    const spec_row rows[] = {
        {R"({"key": {"a": 1}})", R"({"v":2,"key":{"a":1},"name":"a_1"})"},
        {R"({"key": {"a": 1, "b.c": -1}})",
         R"({"v":2,"key":{"a":1,"b.c":-1},"name":"a_1_b.c_-1"})"},
        {R"({"key": {"a": 1.0}})", R"({"v":2,"key":{"a":1.0},"name":"a_1"})"},
        {R"({"key": {"a": "hashed"}})", R"({"v":2,"key":{"a":"hashed"},"name":"a_hashed"})"},
        {R"({"key": {"a": "text"}})", R"({"v":2,"key":{"a":"text"},"name":"a_text"})"},
        {R"({"key": {"$**": 1}})", R"({"v":2,"key":{"$**":1},"name":"$**_1"})"},
        {R"({"name": "n", "unique": true, "key": {"a": 1}})",
         R"({"v":2,"key":{"a":1},"name":"n","unique":true})"},
        {R"({"key": {"a": 1}, "unique": false, "sparse": 1, "background": true})",
         R"({"v":2,"key":{"a":1},"name":"a_1","sparse":true})"},
        {R"({"key": {"a": 1}, "expireAfterSeconds": 3600.0})",
         R"({"v":2,"key":{"a":1},"name":"a_1","expireAfterSeconds":3600})"},
        {R"({"v": 1, "key": {"a": 1}, "partialFilterExpression": {"a": {"$gt": 5}}})",
         R"({"v":1,"key":{"a":1},"name":"a_1","partialFilterExpression":{"a":{"$gt":5}}})"},
        {R"({"key": {"a": 1}, "collation": {"locale": "fr", "strength": 2}})",
         R"({"v":2,"key":{"a":1},"name":"a_1","collation":{"locale":"fr","caseLevel":false,)"
         R"("caseFirst":"off","strength":2,"numericOrdering":false,"alternate":"non-ignorable",)"
         R"("maxVariable":"punct","normalization":false,"backwards":false,"version":"57.1"}})"},
        {R"({"key": {"_id": 1}})", R"({"v":2,"key":{"_id":1},"name":"_id_"})"},
    };
    for (const spec_row& row : rows) {
        const auto read = read_index_spec(json(row.from));
        ASSERT_TRUE(read) << row.from << read.error().message();
        EXPECT_EQ(text(read->raw), row.raw);
        EXPECT_EQ(read->name, read->raw["name"].as_string());
    }
}

struct wrong_row {
    const char* from;
    int code;
    const char* description = "";
};

TEST(lab_index_spec, wrong_ones_are_refused)
{
    const wrong_row rows[] = {
        {R"({"key": {}})", 67, "Index keys cannot be empty."},
        {R"({"key": {"a": 0}})", 67, "Values in the index key pattern cannot be 0."},
        {R"({"key": {"a": 0.0}})", 67},
        {R"({"key": {"a": {"$numberDouble": "NaN"}}})", 67},
        {R"({"key": {"a": "foo"}})", 67, "Unknown index plugin 'foo'"},
        {R"({"key": {"a": true}})", 67, "cannot be of type bool"},
        {R"({"key": {"a": {}}})", 67, "cannot be of type object"},
        {R"({"key": {"": 1}})", 67},
        {R"({"key": {"a..b": 1}})", 67},
        {R"({"key": {"$a": 1}})", 67, "starts with '$'"},
        {R"({"key": "a"})", 14, "The field 'key' must be an object, but got string"},
        {R"({"name": "a"})", 9},
        {R"({"key": {"a": 1}, "name": 5})", 14},
        {R"({"key": {"a": 1}, "name": ""})", 67},
        {R"({"key": {"a": 1}, "name": "*"})", 2},
        {R"({"key": {"a": 1}, "unique": "yes"})", 14},
        {R"({"key": {"a": 1}, "sparse": {}})", 14},
        {R"({"key": {"a": 1}, "v": 7})", 67},
        {R"({"key": {"a": 1}, "v": "2"})", 14},
        {R"({"key": {"a": 1}, "invalidOption": 1})", 197,
         "The field 'invalidOption' is not valid for an index specification."},
        {R"({"key": {"a": 1}, "expireAfterSeconds": "5"})", 67},
        {R"({"key": {"a": 1}, "expireAfterSeconds": -1})", 67},
        {R"({"key": {"a": 1, "b": 1}, "expireAfterSeconds": 1})", 67,
         "TTL indexes are single-field"},
        {R"({"key": {"a": 1}, "partialFilterExpression": 1})", 14},
        {R"({"key": {"a": 1}, "partialFilterExpression": {"a": {"$ne": 1}}})", 67,
         "not supported in partial index"},
        {R"({"key": {"a": 1}, "partialFilterExpression": {"$or": [{"a": {"$regex": "x"}}]}})", 67},
        {R"({"key": {"a": 1}, "partialFilterExpression": {"a": {"$exists": false}}})", 67},
        {R"({"key": {"a": 1}, "sparse": true, "partialFilterExpression": {"a": 1}})", 67},
        {R"({"key": {"a": 1}, "collation": "en"})", 14},
        {R"({"key": {"_id": 1}, "unique": true})", 197},
        {R"({"key": {"_id": 1}, "sparse": true})", 197},
    };
    for (const wrong_row& row : rows) {
        const auto read = read_index_spec(json(row.from));
        ASSERT_FALSE(read) << row.from;
        EXPECT_EQ(code_of(read.error()), row.code) << row.from << read.error().message();
        EXPECT_NE(read.error().message().find(row.description), std::string::npos)
            << read.error().message();
    }
}

TEST(lab_catalog, names_are_checked)
{
    for (const char* good : {"db.c", "db.a.b", "a-b.c", "admin.system.users", "db.system.js"})
        EXPECT_TRUE(check_namespace(good)) << good;
    const std::string names[] = {"",
                                 "db",
                                 "db.",
                                 ".c",
                                 "d b.c",
                                 "d$b.c",
                                 "d/b.c",
                                 "db..c",
                                 "db.a$b",
                                 "db.system.x",
                                 "d\"b.c",
                                 "d\\b.c",
                                 std::string{"db.a\0b", 6},
                                 std::string(64, 'd') + ".c",
                                 "db." + std::string(260, 'c')};
    for (const std::string& bad : names) {
        const auto checked = check_namespace(bad);
        ASSERT_FALSE(checked) << bad;
        EXPECT_EQ(code_of(checked.error()), 73);
    }
    EXPECT_EQ(database_of("a.b.c"), "a");
    EXPECT_EQ(collection_of("a.b.c"), "b.c");
}

TEST(lab_catalog, creates_renames_and_drops)
{
    catalog all;
    ASSERT_TRUE(all.create("b.one", {}, {}));
    ASSERT_TRUE(all.create("a.two", {}, {}));
    ASSERT_TRUE(all.create("a-b.x", {}, {}));
    ASSERT_TRUE(all.create("a.one", {}, {}));
    EXPECT_EQ(code_of(all.create("a.one", {}, {}).error()), 48);
    EXPECT_EQ(code_of(all.create("a.", {}, {}).error()), 73);
    EXPECT_EQ(all.databases(), (std::vector<std::string>{"a", "a-b", "b"}));
    ASSERT_EQ(all.collections("a").size(), 2U);
    EXPECT_EQ(all.collections("a")[0]->name(), "one");
    add(*all.find("a.one"), R"({"_id": 1})");

    EXPECT_EQ(code_of(all.rename("a.none", "a.x", false).error()), 26);
    EXPECT_EQ(code_of(all.rename("a.one", "a.two", false).error()), 48);
    EXPECT_EQ(code_of(all.rename("a.one", "a..", false).error()), 73);
    EXPECT_TRUE(all.rename("a.one", "a.two", true));
    EXPECT_EQ(all.find("a.one"), nullptr);
    ASSERT_NE(all.find("a.two"), nullptr);
    EXPECT_EQ(all.find("a.two")->ns(), "a.two");
    EXPECT_EQ(all.find("a.two")->count(), 1U);

    EXPECT_TRUE(all.drop("b.one"));
    EXPECT_FALSE(all.drop("b.one"));
    EXPECT_TRUE(all.drop_database("a"));
    EXPECT_FALSE(all.drop_database("a"));
    EXPECT_EQ(all.databases(), std::vector<std::string>{"a-b"});
}

}  // namespace
}  // namespace holdfast::lab::index_spec_test
