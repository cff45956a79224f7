#include "holdfast/lab/mongo.hpp"
#include "holdfast/sync/client.hpp"
#include "prose/lab_scene.hpp"

#include <thread>

/// Every write that can be repeated is carried out once, whatever happens to its first attempt.
namespace holdfast::proof {
namespace {

using namespace std::chrono_literals;

const bson::document filter = bson::doc("_id", 1);
const bson::document change = bson::doc("$inc", bson::object("x", 1));
const bson::document other = bson::doc("x", 12);

struct retried_write {
    const char* name;
    const char* command;  // that is disturbed
    std::function<std::optional<error>(lab_scene&)> call;
    const char* left;  // in the collection, sorted by _id
};

template <class T>
std::optional<error> why_not(result<T> outcome)
{
    return outcome ? std::nullopt : std::optional<error>{std::move(outcome).error()};
}

std::optional<error> insert_many(lab_scene& s, bool ordered)
{
    const std::vector<bson::document> two{bson::doc("_id", 2), bson::doc("_id", 3)};
    return why_not(s.get(s.kelp().insert_many(two, {.ordered = ordered}, use_awaitable)));
}

std::optional<error> bulk_write(lab_scene& s, bool ordered)
{
    mongo::bulk_writes work;
    work.insert_one(bson::doc("_id", 2).view())
        .update_one(filter.view(), change)
        .delete_one(bson::doc("_id", 2).view());
    return why_not(
        s.get(s.kelp().bulk_write(std::move(work), {.ordered = ordered}, use_awaitable)));
}

constexpr auto changed = R"([{"_id":1,"x":12}])";
constexpr auto nothing = "[]";
constexpr auto three = R"([{"_id":1,"x":11},{"_id":2},{"_id":3}])";

std::vector<retried_write> all_writes()
{
    return {
        {"insertOne", "insert",
         [](lab_scene& s) {
             return why_not(
                 s.get(s.kelp().insert_one(bson::doc("_id", 2).view(), {}, use_awaitable)));
         },
         R"([{"_id":1,"x":11},{"_id":2}])"},
        {"updateOne", "update",
         [](lab_scene& s) {
             return why_not(s.get(s.kelp().update_one(filter.view(), change, {}, use_awaitable)));
         },
         changed},
        {"replaceOne", "update",
         [](lab_scene& s) {
             return why_not(
                 s.get(s.kelp().replace_one(filter.view(), other.view(), {}, use_awaitable)));
         },
         changed},
        {"deleteOne", "delete",
         [](lab_scene& s) {
             return why_not(s.get(s.kelp().delete_one(filter.view(), {}, use_awaitable)));
         },
         nothing},
        {"findOneAndUpdate", "findAndModify",
         [](lab_scene& s) {
             return why_not(
                 s.get(s.kelp().find_one_and_update(filter.view(), change, {}, use_awaitable)));
         },
         changed},
        {"findOneAndReplace", "findAndModify",
         [](lab_scene& s) {
             return why_not(s.get(
                 s.kelp().find_one_and_replace(filter.view(), other.view(), {}, use_awaitable)));
         },
         changed},
        {"findOneAndDelete", "findAndModify",
         [](lab_scene& s) {
             return why_not(s.get(s.kelp().find_one_and_delete(filter.view(), {}, use_awaitable)));
         },
         nothing},
        {"insertMany, ordered", "insert", [](lab_scene& s) { return insert_many(s, true); }, three},
        {"insertMany", "insert", [](lab_scene& s) { return insert_many(s, false); }, three},
        {"bulkWrite, ordered", "update", [](lab_scene& s) { return bulk_write(s, true); }, changed},
        {"bulkWrite", "insert", [](lab_scene& s) { return bulk_write(s, false); }, changed},
    };
}

std::string content(lab_scene& s)
{
    const bson::document order = bson::doc("_id", 1);
    auto found = s.kelp().find(bson::doc().view(), {.sort = order.view()});
    const auto all = s.get(found.all(use_awaitable));
    if (!all)
        return all.error().explain();
    std::string told;
    for (const bson::document& one : *all)
        told += bson::to_json(one.view()).value() + " ";
    return told;
}

std::string in_words(std::string_view json)
{
    const bson::array all = bson::array_from_json(json).value();
    std::string told;
    for (const bson::element& one : all.view())
        told += bson::to_json(one.as_document()).value() + " ";
    return told;
}

void expect_done_once(const retried_write& one, std::string_view fault)
{
    lab_scene s;
    s.connect();
    const bson::document first = bson::doc("_id", 1, "x", 11);
    ASSERT_TRUE(s.get(s.kelp().insert_one(first.view(), {}, use_awaitable)));
    const std::size_t before = s.started(one.command).size();
    s.fail_on(s.primary(), fault);
    const auto failed = one.call(s);
    EXPECT_FALSE(failed) << one.name << ": " << failed->explain();
    const auto sent = s.started(one.command);
    ASSERT_EQ(sent.size() - before, 2U) << one.name;
    EXPECT_EQ(sent[before].body["txnNumber"].as_int64(),
              sent[before + 1].body["txnNumber"].as_int64());
    EXPECT_EQ(lsid_of(sent[before]), lsid_of(sent[before + 1]));
    EXPECT_EQ(content(s), in_words(one.left)) << one.name;
    s.close();
}

TEST(write_once, whose_connection_breaks_before_the_server_acts)
{
    VERIFIES("RW-069");
    for (const retried_write& one : all_writes())
        expect_done_once(one, fail_command(once, R"({"closeConnection": true, "failCommands": [")" +
                                                     std::string{one.command} + R"("]})"));
}

TEST(write_once, whose_reply_is_lost)
{
    VERIFIES("RW-069");
    for (const retried_write& one : all_writes()) {
        if (std::string_view{one.name} == "bulkWrite, ordered")
            continue;  // its first command is an insert
        expect_done_once(one,
                         R"({"configureFailPoint": "onPrimaryTransactionalWrite",
                             "mode": {"times": 1}, "data": {"closeConnection": true}})");
    }
}

TEST(write_once, by_threads_that_each_have_a_session)
{
    VERIFIES("RW-039");
    auto set = lab::mongo_cluster::start({.members = 1}).value();
    const sync::client client{set.uri()};
    constexpr int writers = 4;
    constexpr int writes = 25;
    std::vector<std::string> failures(writers);
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&client, &failures, writer] {
            const mongo::session mine = client.start_session();
            for (int n = 0; n < writes; ++n) {
                const bson::document one = bson::doc("_id", writer * 1000 + n);
                const auto done = client["sea"]["kelp"].try_insert_one(one.view(),
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
    EXPECT_EQ(client["sea"]["kelp"].count_documents(bson::doc().view()), writers * writes);
}

}  // namespace
}  // namespace holdfast::proof
