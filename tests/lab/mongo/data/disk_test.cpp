#include "lab/mongo/data/disk.hpp"

#include "holdfast/bson/json.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo::disk_test {
namespace {

bson::datetime wall(std::int64_t seconds)
{
    return bson::datetime{std::chrono::seconds{seconds}};
}

result<optime> write(disk& to, char op, std::string_view ns, std::string_view o,
                     std::string_view o2 = "{}", std::int64_t seconds = 100)
{
    const bson::document first = json(o);
    const bson::document second = json(o2);
    return to.write(change{op, ns, first, second}, 1, wall(seconds));
}

int code_of(const result<optime>& from)
{
    return from ? 0 : from.error().code().value();
}

std::vector<bson::document> log_of(const disk& of)
{
    std::vector<bson::document> all;
    for (auto each = of.oplog().next(0); each; each = of.oplog().next(each->id))
        all.emplace_back(each->document);
    return all;
}

/// All that two members must have in common, as text.
std::string picture(disk& of)
{
    std::string out;
    for (const std::string& database : of.data().databases()) {
        for (const collection* each : of.data().collections(database)) {
            out += each->ns() + " " + each->uuid().to_string() + " " +
                   bson::to_json(each->options().raw).value() + "\n";
            for (const index_spec& spec : each->indexes())
                out += "  " + bson::to_json(spec.raw).value() + "\n";
            for (auto at = each->next(0); at; at = each->next(at->id))
                out += "  " + std::to_string(at->id) + " " +
                       bson::to_json(at->document, bson::json_mode::canonical).value() + "\n";
        }
    }
    of.sessions().for_each([&](const session_key& who, std::int64_t number,
                               const executed_statement& what) {
        out += std::to_string(who.id[0]) + " " + std::to_string(number) + " " +
               std::to_string(what.statement) + what.kind + std::to_string(what.at.ts.seconds) +
               "," + std::to_string(what.at.ts.increment) + (what.upserted ? " upserted " : " ") +
               bson::to_json(what.upserted_id).value() + (what.has_image ? " image " : " ") +
               (what.image_is_new ? "new " : "old ") + bson::to_json(what.image).value() + "\n";
    });
    out += std::to_string(of.last().term) + " " + std::to_string(of.last().ts.seconds) + " " +
           std::to_string(of.last().ts.increment);
    return out;
}

TEST(lab_disk, times_are_strictly_increasing)
{
    disk d;
    const std::int64_t clocks[] = {100, 100, 105, 103, 105, 99, 106};
    const bson::timestamp expected[] = {{100, 1}, {100, 2}, {105, 1}, {105, 2},
                                        {105, 3}, {105, 4}, {106, 1}};
    for (std::size_t i = 0; i < std::size(clocks); ++i) {
        const auto at = write(d, 'n', "", R"({"msg": "x"})", "{}", clocks[i]);
        ASSERT_TRUE(at);
        EXPECT_EQ(at->ts, expected[i]) << i;
        EXPECT_EQ(d.last(), *at);
    }
    EXPECT_EQ(d.oldest(), (bson::timestamp{100, 1}));
}

TEST(lab_disk, writes_entries_like_a_servers)
{
    disk d;
    const statement_id by{{}, 7, 2};
    executed_statement outcome;
    outcome.upserted = true;
    const bson::document made = json(R"({"_id": 1, "a": 1})");
    change what{'i', "db.c", made};
    what.by = &by;
    what.outcome = &outcome;
    ASSERT_TRUE(d.write(what, 3, wall(100)));
    ASSERT_TRUE(write(d, 'u', "db.c", R"({"_id": 1, "a": 2})", R"({"_id": 1})"));
    ASSERT_TRUE(write(d, 'd', "db.c", R"({"_id": 1})"));
    const auto log = log_of(d);
    ASSERT_EQ(log.size(), 4U) << "the collection's creation is an entry of its own";
    EXPECT_EQ(log[0]["op"].as_string(), "c");
    EXPECT_EQ(log[0]["ns"].as_string(), "db.$cmd");
    EXPECT_EQ(bson::to_json(log[0]["o"].as_document()).value(), R"({"create":"c"})");
    const bson::uuid uuid = d.data().find("db.c")->uuid();
    for (const bson::document& entry : log) {
        EXPECT_EQ(bson::uuid::from_binary(entry["ui"].as_binary()).value(), uuid);
        EXPECT_EQ(entry["v"].as_int64(), 2);
        EXPECT_EQ(entry["wall"].as_datetime(), wall(100));
    }
    EXPECT_EQ(log[1]["ts"].as_timestamp(), (bson::timestamp{100, 2}));
    EXPECT_EQ(log[1]["t"].as_int64(), 3);
    EXPECT_EQ(log[1]["ns"].as_string(), "db.c");
    EXPECT_EQ(log[1]["o"].as_document(), made.view());
    EXPECT_EQ(log[1]["txnNumber"].as_int64(), 7);
    EXPECT_EQ(log[1]["stmtId"].as_int32(), 2);
    EXPECT_TRUE(log[1]["lsid"]);
    EXPECT_FALSE(log[1]["o2"]);
    EXPECT_EQ(bson::to_json(log[2]["o2"].as_document()).value(), R"({"_id":1})");
    EXPECT_EQ(log[3]["op"].as_string(), "d");
    const auto known = d.sessions().check(by);
    ASSERT_TRUE(known);
    ASSERT_NE(*known, nullptr);
    EXPECT_EQ((*known)->kind, 'i');
    EXPECT_EQ(bson::to_json((*known)->upserted_id).value(), R"({"_id":1})");
    EXPECT_EQ((*known)->at, (optime{3, {100, 2}}));

    EXPECT_EQ(*d.entry_at({100, 3}), log[2]);
    EXPECT_FALSE(d.entry_at({100, 5}));
    EXPECT_FALSE(d.entry_at({99, 1}));
}

TEST(lab_disk, failed_write_changes_nothing)
{
    disk d;
    ASSERT_TRUE(write(d, 'i', "db.c", R"({"_id": 1})"));
    const std::string before = picture(d);
    EXPECT_EQ(code_of(write(d, 'i', "db.c", R"({"_id": 1})")), 11000);
    EXPECT_EQ(code_of(write(d, 'i', "db.new", R"({"a": 1})")), 2);
    EXPECT_EQ(code_of(write(d, 'i', "db.a$b", R"({"_id": 1})")), 73);
    EXPECT_EQ(code_of(write(d, 'u', "db.none", R"({"_id": 1})", R"({"_id": 1})")), 26);
    EXPECT_EQ(code_of(write(d, 'd', "db.c", R"({"_id": 9})")), 4);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"create": "c"})")), 48);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"drop": "none"})")), 26);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"createIndexes": "n2", "key": {"a": 0}})")), 67);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"dropIndexes": "c", "index": "x"})")), 27);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"renameCollection": "db.x", "to": "db.y"})")),
              26);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"explode": 1})")), 2);
    EXPECT_EQ(code_of(write(d, 'c', "db.$cmd", R"({"drop": 1})")), 14);
    EXPECT_EQ(code_of(write(d, 'c', "local.$cmd", R"({"drop": "oplog.rs"})")), 20);
    EXPECT_EQ(code_of(write(d, 'x', "db.c", R"({"_id": 2})")), 2);
    EXPECT_EQ(picture(d), before);
}

TEST(lab_disk, local_is_not_replicated)
{
    disk d;
    ASSERT_TRUE(write(d, 'i', "db.c", R"({"_id": 1})"));
    const optime last = d.last();
    const auto at = write(d, 'i', "local.mine", R"({"_id": 1})");
    ASSERT_TRUE(at);
    EXPECT_EQ(*at, last);
    EXPECT_EQ(d.data().find("local.mine")->count(), 1U);
    EXPECT_EQ(log_of(d).size(), 2U);
}

TEST(lab_disk, commands_change_the_catalog)
{
    disk d;
    ASSERT_TRUE(write(d, 'c', "db.$cmd", R"({"create": "c", "capped": true, "size": 5000})"));
    EXPECT_TRUE(d.data().find("db.c")->options().capped);
    ASSERT_TRUE(write(d, 'c', "db.$cmd", R"({"createIndexes": "i", "v": 2, "key": {"a": 1}})"));
    ASSERT_NE(d.data().find("db.i"), nullptr) << "made by its first index";
    EXPECT_NE(d.data().find("db.i")->index_named("a_1"), nullptr);
    ASSERT_TRUE(
        write(d, 'c', "db.$cmd", R"({"collMod": "i", "index": {"name": "a_1", "hidden": true}})"));
    EXPECT_TRUE(d.data().find("db.i")->index_named("a_1")->hidden);
    ASSERT_TRUE(write(d, 'c', "db.$cmd",
                      R"({"collMod": "i", "options": {"validator": {"a": {"$gt": 1}}}})"));
    EXPECT_FALSE(d.data().find("db.i")->options().validator.empty());
    ASSERT_TRUE(write(d, 'i', "db.i", R"({"_id": 1, "a": 5})"));
    ASSERT_TRUE(write(d, 'i', "db.i", R"({"_id": 2, "a": 5})"));
    const auto unique = write(
        d, 'c', "db.$cmd",
        R"({"collMod": "i", "index": {"keyPattern": {"a": 1}, "unique": true}})");
    ASSERT_EQ(code_of(unique), 359);
    EXPECT_EQ(unique.error().context("violations"), R"({"violations":[{"ids":[1,2]}]})");
    ASSERT_TRUE(write(d, 'c', "db.$cmd", R"({"dropIndexes": "i", "index": "*"})"));
    EXPECT_EQ(d.data().find("db.i")->indexes().size(), 1U);
    ASSERT_TRUE(write(d, 'c', "db.$cmd",
                      R"({"renameCollection": "db.i", "to": "db2.c", "dropTarget": false})"));
    EXPECT_EQ(d.data().find("db.i"), nullptr);
    ASSERT_TRUE(write(d, 'c', "db2.$cmd", R"({"dropDatabase": 1})"));
    ASSERT_TRUE(write(d, 'c', "db.$cmd", R"({"drop": "c"})"));
    EXPECT_EQ(d.data().databases(), std::vector<std::string>{"local"});
}

TEST(lab_disk, oplog_is_bounded)
{
    disk d{4096};
    for (int i = 0; i < 200; ++i)
        ASSERT_TRUE(write(d, 'i', "db.c", "{\"_id\": " + std::to_string(i) + "}"));
    EXPECT_LE(d.oplog().data_size(), 4096);
    EXPECT_EQ(d.data().find("db.c")->count(), 200U);
    EXPECT_FALSE(d.entry_at({100, 1}));
    EXPECT_TRUE(d.entry_at(*d.oldest()));
    EXPECT_TRUE(d.entry_at(d.last().ts));
}

TEST(lab_disk, old_and_broken_entries_are_refused)
{
    disk primary;
    disk secondary;
    ASSERT_TRUE(write(primary, 'i', "db.c", R"({"_id": 1})"));
    ASSERT_TRUE(write(primary, 'n', "", R"({"msg": "x"})"));
    const auto log = log_of(primary);
    ASSERT_EQ(log.size(), 3U);
    for (const bson::document& entry : log)
        ASSERT_TRUE(secondary.apply(entry));
    const std::string before = picture(secondary);
    for (const bson::document& entry : log)
        EXPECT_FALSE(secondary.apply(entry));
    const char* broken[] = {
        R"({})",
        R"({"ts": 5})",
        R"({"ts": {"$timestamp": {"t": 200, "i": 1}}, "op": "insert"})",
        R"({"ts": {"$timestamp": {"t": 200, "i": 1}}, "t": {"$numberLong": "1"}, "op": "i",
            "ns": "db.c", "o": 5})",
        R"({"ts": {"$timestamp": {"t": 200, "i": 1}}, "t": {"$numberLong": "0"}, "op": "n",
            "o": {}})",
        R"({"ts": {"$timestamp": {"t": 200, "i": 1}}, "t": {"$numberLong": "1"}, "op": "n",
            "o": {}, "lsid": {}, "txnNumber": 1})",
    };
    for (const char* entry : broken)
        EXPECT_FALSE(secondary.apply(json(entry))) << entry;
    EXPECT_EQ(picture(secondary), before);
}

TEST(lab_disk, begins_anew_after_a_copy)
{
    disk d;
    ASSERT_TRUE(write(d, 'i', "db.c", R"({"_id": 1})"));
    d.set_term(4);
    d.voted(4);
    d.clear();
    EXPECT_EQ(d.last(), optime{});
    EXPECT_EQ(d.oplog().count(), 0U);
    EXPECT_EQ(d.data().find("db.c"), nullptr);
    EXPECT_EQ(d.term(), 4);
    EXPECT_EQ(d.voted_in(), 4);
    d.start_from({4, {500, 3}});
    const auto at = write(d, 'n', "", "{}");
    ASSERT_TRUE(at);
    EXPECT_EQ(at->ts, (bson::timestamp{500, 4}));
}

}  // namespace
}  // namespace holdfast::lab::mongo::disk_test
