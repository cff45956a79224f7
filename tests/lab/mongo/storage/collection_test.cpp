#include "lab/mongo/storage/collection.hpp"

#include "lab/mongo/storage/support.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::lab::collection_test {
namespace {

TEST(lab_collection, documents_keep_insertion_order_in_both_directions)
{
    collection c = make_collection();
    for (int i = 1; i <= 200; ++i)
        add(c, "{\"_id\": " + std::to_string(i) + "}");
    EXPECT_EQ(c.count(), 200U);
    int expected = 1;
    for (auto each = c.next(0); each; each = c.next(each->id))
        EXPECT_EQ(each->document["_id"].as_int32(), expected++);
    EXPECT_EQ(expected, 201);
    for (auto each = c.previous(0); each; each = c.previous(each->id))
        EXPECT_EQ(each->document["_id"].as_int32(), --expected);
    EXPECT_EQ(expected, 1);
    EXPECT_EQ(c.ns(), "db.c");
    EXPECT_EQ(c.name(), "c");
}

TEST(lab_collection, a_walk_survives_removals)
{
    collection c = make_collection();
    std::vector<record_id> all;
    for (int i = 1; i <= 300; ++i)
        all.push_back(add(c, "{\"_id\": " + std::to_string(i) + "}"));
    for (std::size_t i = 0; i < 299; ++i)
        c.remove(all[i], at(1));  // at the same moment: gone without a trace
    const auto left = c.next(all[10]);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->document["_id"].as_int32(), 300);
    EXPECT_FALSE(c.previous(left->id));
    EXPECT_FALSE(c.next(left->id));
    add(c, R"({"_id": 1})");
    EXPECT_EQ(ids(c), "[300,1]");
}

struct id_row {
    const char* there;
    const char* asked;
    bool equal;
};

class lab_ids : public testing::TestWithParam<id_row> {};

TEST_P(lab_ids, duplicate_id_is_found_and_refused_by_value)
{
    collection c = make_collection();
    add(c, GetParam().there);
    const bson::document asked = json(GetParam().asked);
    EXPECT_EQ(c.find_by_id(asked["_id"]).has_value(), GetParam().equal);
    EXPECT_EQ(c.insert(asked, at(1)).has_value(), !GetParam().equal);
}

INSTANTIATE_TEST_SUITE_P(
    all, lab_ids,
    testing::Values(id_row{R"({"_id": 1})", R"({"_id": {"$numberLong": "1"}})", true},
                    id_row{R"({"_id": 1})", R"({"_id": 1.0})", true},
                    id_row{R"({"_id": 1})", R"({"_id": {"$numberDecimal": "1.00"}})", true},
                    id_row{R"({"_id": 1})", R"({"_id": {"$numberDecimal": "10E-1"}})", true},
                    id_row{R"({"_id": 1})", R"({"_id": 1.5})", false},
                    id_row{R"({"_id": 1.5})", R"({"_id": {"$numberDecimal": "1.50"}})", true},
                    id_row{R"({"_id": -0.375})", R"({"_id": {"$numberDecimal": "-0.375"}})", true},
        // 0.1 has no exact binary form: the two are different numbers.
                    id_row{R"({"_id": 0.1})", R"({"_id": {"$numberDecimal": "0.1"}})", false},
                    id_row{R"({"_id": {"$numberDouble": "1180591620717411303424"}})",
                           R"({"_id": {"$numberDecimal": "1180591620717411303424"}})", true},
                    id_row{R"({"_id": {"$numberDouble": "1E+22"}})",
                           R"({"_id": {"$numberDecimal": "1E+22"}})", true},
                    id_row{R"({"_id": {"$numberLong": "9007199254740993"}})",
                           R"({"_id": 9007199254740992.0})", false},
                    id_row{R"({"_id": {"$numberLong": "-9223372036854775808"}})",
                           R"({"_id": -9223372036854775808.0})", true},
                    id_row{R"({"_id": {"$numberLong": "9223372036854775807"}})",
                           R"({"_id": 9223372036854775808.0})", false},
                    id_row{R"({"_id": {"$numberDecimal": "1E+6000"}})",
                           R"({"_id": {"$numberDecimal": "10E+5999"}})", true},
                    id_row{R"({"_id": {"$numberDecimal": "1E+6000"}})",
                           R"({"_id": {"$numberDecimal": "-1E+6000"}})", false},
                    id_row{R"({"_id": 0})", R"({"_id": {"$numberDouble": "-0.0"}})", true},
                    id_row{R"({"_id": 0})", R"({"_id": {"$numberDecimal": "-0E+3"}})", true},
                    id_row{R"({"_id": {"$numberDouble": "NaN"}})",
                           R"({"_id": {"$numberDecimal": "NaN"}})", true},
                    id_row{R"({"_id": {"$numberDouble": "Infinity"}})",
                           R"({"_id": {"$numberDecimal": "Infinity"}})", true},
                    id_row{R"({"_id": "1"})", R"({"_id": 1})", false},
                    id_row{R"({"_id": "a"})", R"({"_id": {"$symbol": "a"}})", true},
                    id_row{R"({"_id": "a"})", R"({"_id": "A"})", false},
                    id_row{R"({"_id": ""})", R"({"_id": null})", false},
                    id_row{R"({"_id": {"a": 1}})", R"({"_id": {"a": 1.0}})", true},
                    id_row{R"({"_id": {"a": 1}})", R"({"_id": {"b": 1}})", false},
                    id_row{R"({"_id": {"a": 1, "b": 2}})", R"({"_id": {"b": 2, "a": 1}})", false},
                    id_row{R"({"_id": {"a": {"b": ["x", 1]}}})",
                           R"({"_id": {"a": {"b": ["x", {"$numberLong": "1"}]}}})", true},
                    id_row{R"({"_id": {"a": [1]}})", R"({"_id": {"a": {"0": 1}}})", false},
                    id_row{R"({"_id": true})", R"({"_id": 1})", false},
                    id_row{R"({"_id": {"$date": {"$numberLong": "1"}}})",
                           R"({"_id": {"$numberLong": "1"}})", false},
                    id_row{R"({"_id": {"$oid": "5f0000000000000000000001"}})",
                           R"({"_id": {"$oid": "5f0000000000000000000001"}})", true},
                    id_row{R"({"_id": {"$oid": "5f0000000000000000000001"}})",
                           R"({"_id": "5f0000000000000000000001"})", false}));

TEST(lab_collection, duplicate_id_fails_with_the_servers_message)
{
    collection c = make_collection();
    add(c, R"({"_id": 1})");
    const auto again = c.insert(json(R"({"_id": 1.0, "x": 2})"), at(2));
    ASSERT_FALSE(again);
    EXPECT_EQ(code_of(again.error()), 11000);
    EXPECT_EQ(again.error().message(),
              "E11000 duplicate key error collection: db.c index: _id_ dup key: { _id: 1.0 }");
    EXPECT_EQ(again.error().context("keyPattern"), R"({"_id":1})");
    EXPECT_EQ(again.error().context("keyValue"), R"({"_id":1.0})");
    EXPECT_EQ(c.count(), 1U);
}

TEST(lab_collection, replacement_with_another_id_is_refused)
{
    collection c = make_collection();
    const record_id one = add(c, R"({"_id": 1})");
    EXPECT_TRUE(c.replace(one, json(R"({"_id": 1.0, "a": 1})"), at(2)));
    const auto other = c.replace(one, json(R"({"_id": 2})"), at(2));
    ASSERT_FALSE(other);
    EXPECT_EQ(code_of(other.error()), 66);
    EXPECT_FALSE(c.replace(99, json(R"({"_id": 1})"), at(2)));
    EXPECT_FALSE(c.insert(json(R"({"a": 1})"), at(2)));
}

TEST(lab_snapshot, snapshot_read_sees_data_at_its_cluster_time)
{
    collection c = make_collection();
    const record_id one = add(c, R"({"_id": 1, "v": 1})", 10);
    const record_id two = add(c, R"({"_id": 2, "v": 1})", 20);
    ASSERT_TRUE(c.replace(one, json(R"({"_id": 1, "v": 2})"), at(30)));
    c.remove(two, at(40));
    add(c, R"({"_id": 2, "v": 3})", 50);

    EXPECT_EQ(ids(c, at(9)), "[]");
    EXPECT_EQ(ids(c, at(10)), "[1]");
    EXPECT_EQ(ids(c, at(39)), "[1,2]");
    EXPECT_EQ(ids(c, at(40)), "[1]");
    EXPECT_EQ(ids(c, at(50)), "[1,2]");
    EXPECT_EQ(ids(c), "[1,2]");
    const bson::document id = json(R"({"one": 1, "two": 2})");
    const auto v = [&](std::string_view which, read_time when) -> int {
        const auto found = c.find_by_id(id[which], when);
        return found ? found->document["v"].as_int32() : 0;
    };
    EXPECT_EQ(v("one", at(29)), 1);
    EXPECT_EQ(v("one", at(30)), 2);
    EXPECT_EQ(v("two", at(19)), 0);
    EXPECT_EQ(v("two", at(39)), 1);
    EXPECT_EQ(v("two", at(45)), 0);
    EXPECT_EQ(v("two", at(50)), 3);
    EXPECT_EQ(v("two", {}), 3);

    c.forget_before(at(45));
    EXPECT_EQ(v("one", at(45)), 2);
    EXPECT_EQ(v("one", at(29)), 0) << "forgotten";
    EXPECT_EQ(v("two", at(39)), 0) << "forgotten";
    EXPECT_EQ(v("two", at(50)), 3);
    EXPECT_FALSE(c.find(two));
}

TEST(lab_snapshot, an_insert_that_left_no_trace_hides_nothing)
{
    collection c = make_collection();
    const record_id old = add(c, R"({"_id": 1, "v": 1})", 10);
    c.remove(old, at(20));
    c.remove(add(c, R"({"_id": 1, "v": 2})", 30), at(30));
    const bson::document id = json(R"({"_id": 1})");
    EXPECT_FALSE(c.find_by_id(id["_id"]));
    ASSERT_TRUE(c.find_by_id(id["_id"], at(15)));
    add(c, R"({"_id": 1, "v": 3})", 40);
    EXPECT_EQ(c.find_by_id(id["_id"], at(15))->document["v"].as_int32(), 1);
    EXPECT_EQ(c.find_by_id(id["_id"])->document["v"].as_int32(), 3);
}

/// Against a model that keeps everything.
TEST(lab_snapshot, agrees_with_a_model_under_random_changes)
{
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 chance{seed};
        collection c = make_collection();
        std::map<int, int> now;
        std::map<std::uint32_t, std::map<int, int>> past;
        std::uint32_t forgotten = 0;
        for (std::uint32_t t = 1; t <= 300; ++t) {
            const int id = static_cast<int>(chance() % 12);
            const int value = static_cast<int>(t);
            const bson::document made = bson::doc("_id", id, "v", value);
            const auto found = c.find_by_id(made["_id"]);
            ASSERT_EQ(found.has_value(), now.contains(id));
            if (!found) {
                ASSERT_TRUE(c.insert(made, at(t)));
                now[id] = value;
            } else if (chance() % 2 == 0) {
                ASSERT_TRUE(c.replace(found->id, made, at(t)));
                now[id] = value;
            } else {
                c.remove(found->id, at(t));
                now.erase(id);
            }
            past[t] = now;
            if (chance() % 40 == 0) {
                forgotten = std::max(forgotten,
                                     t - static_cast<std::uint32_t>(chance() % std::min(t, 20U)));
                c.forget_before(at(forgotten));
            }
            const std::uint32_t when = std::max(forgotten, 1U) +
                                       static_cast<std::uint32_t>(
                                           chance() % (t - std::max(forgotten, 1U) + 1));
            std::map<int, int> seen;
            for (auto each = c.next(0, at(when)); each; each = c.next(each->id, at(when)))
                seen[each->document["_id"].as_int32()] = each->document["v"].as_int32();
            ASSERT_EQ(seen, past[when]) << "seed " << seed << ", " << t << " sees " << when;
            for (int which = 0; which < 12; ++which) {
                const bson::document key = bson::doc("_id", which);
                const auto one = c.find_by_id(key["_id"], at(when));
                ASSERT_EQ(one.has_value(), past[when].contains(which));
            }
            ASSERT_EQ(c.count(), now.size());
        }
    }
}

TEST(lab_capped, drops_the_oldest)
{
    collection three = make_collection(R"({"capped": true, "size": 100000, "max": 3})");
    add_index(three, R"({"key": {"a": 1}, "unique": true})");
    for (int i = 1; i <= 5; ++i)
        add(three, "{\"_id\": " + std::to_string(i) + ", \"a\": " + std::to_string(i) + "}");
    EXPECT_EQ(ids(three), "[3,4,5]");
    add(three, R"({"_id": 1, "a": 1})");
    EXPECT_EQ(ids(three), "[4,5,1]") << "an evicted _id and key are free again";

    collection bytes = make_collection(R"({"capped": true, "size": 60})");
    for (int i = 1; i <= 10; ++i)
        add(bytes, "{\"_id\": " + std::to_string(i) + "}");  // 14 bytes each
    EXPECT_EQ(ids(bytes), "[7,8,9,10]");
    EXPECT_LE(bytes.data_size(), 60);
    const auto large = bytes.insert(
        json(R"({"_id": 11, "text": "longer than all that there is room for in this collection"})"),
        at(2));
    ASSERT_FALSE(large);
    EXPECT_EQ(ids(bytes), "[7,8,9,10]");
}

TEST(lab_capped, drops_the_oldest_that_is_alive)
{
    collection c = make_collection(R"({"capped": true, "size": 100000, "max": 300})");
    for (int i = 1; i <= 300; ++i)
        add(c, "{\"_id\": " + std::to_string(i) + "}", 1);
    for (int i = 1; i <= 298; ++i)  // several chunks of which only the past is left
        c.remove(c.find_by_id(json("{\"_id\": " + std::to_string(i) + "}")["_id"])->id, at(2));
    for (int i = 301; i <= 599; ++i)
        add(c, "{\"_id\": " + std::to_string(i) + "}", 3);
    EXPECT_EQ(c.count(), 300U);
    EXPECT_EQ(text(c.next(0)->document), R"({"_id":300})") << "299 was the oldest";
    EXPECT_EQ(text(c.next(0, at(1))->document), R"({"_id":1})");
    c.remove_all(at(4));
    add(c, R"({"_id": 1000})", 5);
    EXPECT_EQ(ids(c), "[1000]");
}

TEST(lab_collection, truncate_leaves_nothing_of_the_past)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1}})");
    for (int i = 1; i <= 100; ++i)
        add(c, "{\"_id\": " + std::to_string(i) + ", \"a\": 1}", 1);
    c.remove(c.next(0)->id, at(2));
    c.truncate();
    EXPECT_EQ(c.count(), 0U);
    EXPECT_EQ(c.data_size(), 0);
    EXPECT_FALSE(c.next(0, at(1)));
    EXPECT_TRUE(c.find_equal("a", json(R"({"": 1})")[""]).empty());
    add(c, R"({"_id": 7, "a": 1})", 3);
    EXPECT_EQ(ids(c), "[7]") << "its _id is free again";
}

TEST(lab_collection, remove_all_leaves_the_past)
{
    collection c = make_collection();
    add_index(c, R"({"key": {"a": 1}})");
    for (int i = 1; i <= 100; ++i)
        add(c, "{\"_id\": " + std::to_string(i) + ", \"a\": 1}", 1);
    c.remove_all(at(2));
    EXPECT_EQ(c.count(), 0U);
    EXPECT_EQ(c.data_size(), 0);
    EXPECT_TRUE(c.find_equal("a", json(R"({"": 1})")[""]).empty());
    int then = 0;
    for (auto each = c.next(0, at(1)); each; each = c.next(each->id, at(1)))
        ++then;
    EXPECT_EQ(then, 100);
    c.forget_before(at(2));
    EXPECT_FALSE(c.next(0, at(1)));
}

TEST(lab_collection, under_a_collation_ids_are_unique_by_it)
{
    collection c = make_collection(R"({"collation": {"locale": "en", "strength": 2}})");
    add(c, R"({"_id": "a"})");
    const auto again = c.insert(json(R"({"_id": "A"})"), at(1));
    ASSERT_FALSE(again);
    EXPECT_EQ(code_of(again.error()), 11000);
    add(c, R"({"_id": "b"})");
    EXPECT_EQ(c.indexes().size(), 1U);
}

/// The keys of one and two letters are those of a server.
TEST(lab_collection, duplicate_under_a_collation_shows_the_sort_key)
{
    collection c = make_collection(R"({"collation": {"locale": "en", "strength": 2}})");
    add(c, R"({"_id": "b"})");
    add(c, R"({"_id": "ab"})");
    const error twice = c.insert(json(R"({"_id": "B"})"), at(1)).error();
    EXPECT_EQ(twice.context("keyPattern"), R"({"_id":1})");
    EXPECT_EQ(twice.context("keyValue"), R"({"_id":"2b0105"})");
    EXPECT_EQ(twice.context("hexEncoded"), R"({"hexEncoded": [true]})");
    EXPECT_NE(twice.context("collation").find("\"strength\":2"), std::string::npos);
    EXPECT_TRUE(twice.message().ends_with(R"( dup key: { _id: "0x2b0105" })")) << twice.message();
    EXPECT_EQ(c.insert(json(R"({"_id": "aB"})"), at(1)).error().context("keyValue"),
              R"({"_id":"292b0106"})");

    collection plain = make_collection("{}");
    add(plain, R"({"_id": "b"})");
    const error simple = plain.insert(json(R"({"_id": "b"})"), at(1)).error();
    EXPECT_EQ(simple.context("keyValue"), R"({"_id":"b"})");
    EXPECT_EQ(simple.context("hexEncoded"), "");
    EXPECT_EQ(simple.context("collation"), "");
}

struct options_row {
    const char* options;
    int code;
};

TEST(lab_collection_options, wrong_ones_are_refused)
{
    const options_row rows[] = {
        {R"({"capped": true})", 72},
        {R"({"size": 10})", 72},
        {R"({"capped": "yes", "size": 10})", 14},
        {R"({"capped": true, "size": "10"})", 14},
        {R"({"capped": true, "size": 0})", 51024},
        {R"({"validator": 1})", 14},
        {R"({"viewOn": 1})", 14},
        {R"({"viewOn": "a", "pipeline": {}})", 14},
        {R"({"pipeline": []})", 72},
        {R"({"clusteredIndex": {"key": {"a": 1}, "unique": true}})", 72},
        {R"({"clusteredIndex": {"key": {"_id": 1}}})", 2},
    };
    for (const options_row& row : rows) {
        const auto read = read_collection_options(json(row.options));
        ASSERT_FALSE(read) << row.options;
        EXPECT_EQ(code_of(read.error()), row.code) << row.options << read.error().message();
    }
}

TEST(lab_collection_options, keep_what_was_said)
{
    const auto read = read_collection_options(json(
        R"({"create": "c", "capped": true, "size": 4096, "max": 5, "$db": "d", "comment": 1})"));
    ASSERT_TRUE(read);
    EXPECT_EQ(text(read->raw), R"({"capped":true,"size":4096,"max":5})");
    EXPECT_TRUE(read->capped);
    EXPECT_EQ(read->max_bytes, 4096);
    EXPECT_EQ(read->max_documents, 5);
    const auto clustered = read_collection_options(
        json(R"({"clusteredIndex": {"key": {"_id": 1}, "unique": true, "name": "mine"}})"));
    ASSERT_TRUE(clustered);
    collection c{"db.c", {}, *clustered};
    ASSERT_EQ(c.indexes().size(), 1U);
    EXPECT_EQ(text(c.indexes()[0].raw),
              R"({"v":2,"key":{"_id":1},"name":"mine","unique":true,"clustered":true})");
}

}  // namespace
}  // namespace holdfast::lab::collection_test
