#include "client/prose/lab_scene.hpp"
#include "holdfast/lab/mongo.hpp"
#include "holdfast/mongo/sync/client.hpp"

#include <thread>

/// Every write that can be repeated is carried out once, whatever happens to its first attempt.
namespace holdfast::proof::write_once_test {
namespace {

using namespace std::chrono_literals;

const bson::document filter = bson::doc("_id", 1);
const bson::document change = bson::doc("$inc", bson::object("x", 1));
const bson::document other = bson::doc("x", 12);

struct retried_write {
    const char* name;
    const char* command;  // that is disturbed
    std::function<result<std::string>(lab_scene&)> call;  // what the caller gets
    const char* received;
    const char* left;  // in the collection, sorted by _id
    const char* lost = command;  // the first write, whose reply can be lost
};

/// A result in words. A write that was carried out twice gives another one, even where it leaves
/// the same documents.
std::string to_text(const mongo::insert_one_result& done)
{
    return "inserted " + std::to_string(done.inserted_id.get<std::int32_t>().value_or(-1));
}
std::string to_text(const mongo::insert_many_result& done)
{
    return "inserted " + std::to_string(done.inserted_count);
}
std::string to_text(const mongo::update_result& done)
{
    return "matched " + std::to_string(done.matched_count) + " modified " +
           std::to_string(done.modified_count) + " upserted " + std::to_string(done.upserted_count);
}
std::string to_text(const mongo::delete_result& done)
{
    return "deleted " + std::to_string(done.deleted_count);
}
std::string to_text(const mongo::bulk_write_result& done)
{
    return "inserted " + std::to_string(done.inserted_count) + " matched " +
           std::to_string(done.matched_count) + " modified " + std::to_string(done.modified_count) +
           " deleted " + std::to_string(done.deleted_count);
}
std::string to_text(const std::optional<bson::document>& found)
{
    return found ? bson::to_json(found->view()).value() : "nothing found";
}

template <class T>
result<std::string> outcome_text(result<T> outcome)
{
    if (!outcome)
        return std::move(outcome).error();
    return to_text(*outcome);
}

result<std::string> insert_many(lab_scene& s, bool ordered)
{
    const std::vector<bson::document> two{bson::doc("_id", 2), bson::doc("_id", 3)};
    return outcome_text(
        s.get(s.test_collection().insert_many(two, {.ordered = ordered}, use_awaitable)));
}

result<std::string> bulk_write(lab_scene& s, bool ordered)
{
    mongo::bulk_writes work;
    work.insert_one(bson::doc("_id", 2).view())
        .update_one(filter.view(), change)
        .delete_one(bson::doc("_id", 2).view());
    return outcome_text(s.get(
        s.test_collection().bulk_write(std::move(work), {.ordered = ordered}, use_awaitable)));
}

constexpr auto first = R"({"_id":1,"x":11})";
constexpr auto changed_one = "matched 1 modified 1 upserted 0";
constexpr auto one_of_each = "inserted 1 matched 1 modified 1 deleted 1";
constexpr auto changed = R"([{"_id":1,"x":12}])";
constexpr auto nothing = "[]";
constexpr auto three = R"([{"_id":1,"x":11},{"_id":2},{"_id":3}])";

std::vector<retried_write> all_writes()
{
    return {
        {"insertOne", "insert",
         [](lab_scene& s) {
             return outcome_text(s.get(
                 s.test_collection().insert_one(bson::doc("_id", 2).view(), {}, use_awaitable)));
         },
         "inserted 2", R"([{"_id":1,"x":11},{"_id":2}])"},
        {"updateOne", "update",
         [](lab_scene& s) {
             return outcome_text(
                 s.get(s.test_collection().update_one(filter.view(), change, {}, use_awaitable)));
         },
         changed_one, changed},
        {"replaceOne", "update",
         [](lab_scene& s) {
             return outcome_text(s.get(
                 s.test_collection().replace_one(filter.view(), other.view(), {}, use_awaitable)));
         },
         changed_one, changed},
        {"deleteOne", "delete",
         [](lab_scene& s) {
             return outcome_text(
                 s.get(s.test_collection().delete_one(filter.view(), {}, use_awaitable)));
         },
         "deleted 1", nothing},
        {"findOneAndUpdate", "findAndModify",
         [](lab_scene& s) {
             return outcome_text(s.get(s.test_collection().find_one_and_update(
                 filter.view(), change, {}, use_awaitable)));
         },
         first, changed},
        {"findOneAndReplace", "findAndModify",
         [](lab_scene& s) {
             return outcome_text(s.get(s.test_collection().find_one_and_replace(
                 filter.view(), other.view(), {}, use_awaitable)));
         },
         first, changed},
        {"findOneAndDelete", "findAndModify",
         [](lab_scene& s) {
             return outcome_text(
                 s.get(s.test_collection().find_one_and_delete(filter.view(), {}, use_awaitable)));
         },
         first, nothing},
        {"insertMany, ordered", "insert", [](lab_scene& s) { return insert_many(s, true); },
         "inserted 2", three},
        {"insertMany", "insert", [](lab_scene& s) { return insert_many(s, false); }, "inserted 2",
         three},
        {"bulkWrite, ordered", "update", [](lab_scene& s) { return bulk_write(s, true); },
         one_of_each, changed, "insert"},
        {"bulkWrite", "insert", [](lab_scene& s) { return bulk_write(s, false); }, one_of_each,
         changed},
    };
}

std::string content(lab_scene& s)
{
    const bson::document order = bson::doc("_id", 1);
    auto found = s.test_collection().find(bson::doc().view(), {.sort = order.view()});
    const auto all = s.get(found.all(use_awaitable));
    if (!all)
        return all.error().explain();
    std::string text;
    for (const bson::document& one : *all)
        text += bson::to_json(one.view()).value() + " ";
    return text;
}

std::string one_by_one(std::string_view json)
{
    const bson::array all = bson::array_from_json(json).value();
    std::string text;
    for (const bson::element& one : all.view())
        text += bson::to_json(one.as_document()).value() + " ";
    return text;
}

/// The fault strikes the first attempt of the operation's command of this name.
void expect_done_once(const retried_write& one, std::string_view command, std::string_view fault)
{
    SCOPED_TRACE(one.name);
    lab_scene s;
    s.connect();
    const bson::document before = bson::from_json(first).value();
    ASSERT_TRUE(s.get(s.test_collection().insert_one(before.view(), {}, use_awaitable)));
    const std::size_t earlier = s.started(command).size();
    s.fail_on(s.primary(), fault);
    const auto done = one.call(s);
    ASSERT_TRUE(done) << done.error().explain();
    EXPECT_EQ(*done, one.received);
    const auto sent = s.started(command);
    ASSERT_EQ(sent.size() - earlier, 2U);
    EXPECT_EQ(sent[earlier].body["txnNumber"].as_int64(),
              sent[earlier + 1].body["txnNumber"].as_int64());
    EXPECT_EQ(lsid_of(sent[earlier]), lsid_of(sent[earlier + 1]));
    EXPECT_EQ(content(s), one_by_one(one.left));
    s.close();
}

TEST(write_once, connection_closed_before_the_write_is_applied_once)
{
    VERIFIES("RW-069");
    for (const retried_write& one : all_writes())
        expect_done_once(one, one.command,
                         fail_command(once, R"({"closeConnection": true, "failCommands": [")" +
                                                std::string{one.command} + R"("]})"));
}

TEST(write_once, lost_reply_is_applied_once)
{
    VERIFIES("RW-069");
    for (const retried_write& one : all_writes())
        expect_done_once(one, one.lost,
                         R"({"configureFailPoint": "onPrimaryTransactionalWrite",
                             "mode": {"times": 1}, "data": {"closeConnection": true}})");
}

TEST(write_once, threads_with_their_own_sessions_apply_each_write_once)
{
    VERIFIES("RW-039");
    auto set = lab::mongo_cluster::start({.members = 1}).value();
    const mongo::sync::client client{set.uri()};
    constexpr int writers = 4;
    constexpr int writes = 25;
    std::vector<std::string> failures(writers);
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&client, &failures, writer] {
            const mongo::session mine = client.start_session();
            for (int n = 0; n < writes; ++n) {
                const bson::document one = bson::doc("_id", writer * 1000 + n);
                const auto done = client["sea"]["coll"].try_insert_one(one.view(),
                                                                       {.session = &mine});
                if (!done)
                    failures[static_cast<std::size_t>(writer)] = done.error().explain();
            }
        });
    }
    for (std::thread& one : threads)
        one.join();
    for (const std::string& one : failures)
        EXPECT_EQ(one, "");
    EXPECT_EQ(client["sea"]["coll"].count_documents(bson::doc().view()), writers * writes);
}

}  // namespace
}  // namespace holdfast::proof::write_once_test
