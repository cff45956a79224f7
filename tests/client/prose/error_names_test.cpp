#include "client/prose/session_methods.hpp"
#include "client/prose/shop.hpp"
#include "client/reading.hpp"

#include <boost/describe.hpp>

#include <map>

/// Every error of an operation names the operation and its namespace.
namespace holdfast::proof::error_names_test {

struct overfull {
    std::uint64_t count = ~std::uint64_t{0};  // BSON has no such number
};
BOOST_DESCRIBE_STRUCT(overfull, (), (count))

namespace {

using namespace std::chrono_literals;

void expect_named(const error& why, std::string_view command, std::string_view space)
{
    EXPECT_TRUE(why.context("operation").starts_with(command)) << why.explain();
    EXPECT_EQ(why.context("namespace"), space) << why.explain();
    EXPECT_TRUE(why.summary().starts_with(why.context("operation"))) << why.summary();
}

/// Of the methods that are not about "sea.coll".
const std::map<std::string_view, std::string_view> other_spaces = {
    {"run_command", "sea"},
    {"database.aggregate", "sea"},
    {"list_collections", "sea"},
    {"list_collection_names", "sea"},
    {"database.drop", "sea"},
    {"list_databases", "admin"},
    {"list_database_names", "admin"},
    {"create_collection", "sea.reef"},
    {"rename", "sea.reef"},
    {"drop", "sea.shoal"},
};

TEST(error_names, error_of_every_method_names_command_and_namespace)
{
    lab_scene s;
    s.connect();
    for (const session_method& one : session_methods()) {
        SCOPED_TRACE(one.name);
        s.fail(once,
               R"({"failCommands": [")" + std::string{one.command} + R"("], "errorCode": 8})");
        const auto failed = one.call(s, nullptr);
        ASSERT_TRUE(failed);
        const auto other = other_spaces.find(one.name);
        expect_named(*failed, one.command,
                     other == other_spaces.end() ? "sea.coll" : other->second);
        EXPECT_NE(failed->context("server"), "") << failed->explain();
        EXPECT_FALSE(failed->history().empty()) << failed->explain();
        (void)one.call(s, nullptr);  // the next ones build on it
    }
    s.close();
}

/// An operation that makes no sense.
struct senseless {
    const char* what;
    const char* command;
    std::string_view space;
    std::function<std::optional<error>(shop&)> call;
};

template <class T>
std::optional<error> why_not(shop& in, runtime::awaitable<result<T>> what)
{
    auto outcome = in.get(std::move(what));
    return outcome ? std::nullopt : std::optional<error>{std::move(outcome).error()};
}

const bson::document plain = bson::doc("a", 1);
const bson::document operators = bson::doc("$set", bson::object("a", 1));
const mongo::write_concern contradiction{.w = 0, .journal = true};

void add_writes(std::vector<senseless>& to)
{
    to.push_back({"unmappable struct", "insert", "sea.coll", [](shop& in) {
                      return why_not(
                          in, in.test_collection().insert_one(overfull{}, {}, use_awaitable));
                  }});
    to.push_back({"write concern", "insert", "sea.coll", [](shop& in) {
                      return why_not(in,
                                     in.test_collection().insert_one(
                                         plain, {.write_concern = contradiction}, use_awaitable));
                  }});
    to.push_back({"nothing to insert", "insert", "sea.coll", [](shop& in) {
                      return why_not(in, in.test_collection().insert_many(
                                             std::vector<bson::document>{}, {}, use_awaitable));
                  }});
    to.push_back({"update without operators", "update", "sea.coll", [](shop& in) {
                      return why_not(in, in.test_collection().update_one(everything.view(), plain,
                                                                         {}, use_awaitable));
                  }});
    to.push_back({"replacement with operators", "update", "sea.coll", [](shop& in) {
                      return why_not(in, in.test_collection().replace_one(
                                             everything.view(), operators, {}, use_awaitable));
                  }});
    to.push_back({"find_one_and_update", "findAndModify", "sea.coll", [](shop& in) {
                      return why_not(in, in.test_collection().find_one_and_update(
                                             everything.view(), plain, {}, use_awaitable));
                  }});
    to.push_back({"bulk write", "bulk write", "sea.coll", [](shop& in) {
                      mongo::bulk_writes work;
                      work.update_one(everything.view(), plain);
                      return why_not(
                          in, in.test_collection().bulk_write(std::move(work), {}, use_awaitable));
                  }});
    to.push_back({"client's bulk write", "bulkWrite", "sea.coll", [](shop& in) {
                      mongo::client_bulk_writes work;
                      work.update_one("sea.coll", everything.view(), plain);
                      return why_not(in,
                                     in.s.client->bulk_write(std::move(work), {}, use_awaitable));
                  }});
    to.push_back({"client's bulk write to no namespace", "bulkWrite", "admin", [](shop& in) {
                      mongo::client_bulk_writes work;
                      work.insert_one("coll", plain);
                      return why_not(in,
                                     in.s.client->bulk_write(std::move(work), {}, use_awaitable));
                  }});
}

void add_others(std::vector<senseless>& to)
{
    to.push_back({"find", "find", "sea.coll", [](shop& in) {
                      auto found = in.test_collection().find(everything, {.batch_size = -1});
                      return why_not(in, found.all(use_awaitable));
                  }});
    to.push_back({"aggregate", "aggregate", "sea.coll", [](shop& in) {
                      const bson::array stages = bson::arr();
                      auto found = in.test_collection().aggregate(stages, {.batch_size = -1});
                      return why_not(in, found.all(use_awaitable));
                  }});
    to.push_back({"no index", "createIndexes", "sea.coll", [](shop& in) {
                      return why_not(in,
                                     in.test_collection().create_indexes(
                                         std::span<const mongo::index_model>{}, {}, use_awaitable));
                  }});
    to.push_back({"all indexes as one", "dropIndexes", "sea.coll", [](shop& in) {
                      return why_not(in, in.test_collection().drop_index("*", {}, use_awaitable));
                  }});
    to.push_back({"create_collection", "create", "sea.reef", [](shop& in) {
                      return why_not(in,
                                     (*in.s.client)["sea"].create_collection(
                                         "reef", {.write_concern = contradiction}, use_awaitable));
                  }});
    to.push_back({"drop", "dropDatabase", "sea", [](shop& in) {
                      return why_not(in, (*in.s.client)["sea"].drop(
                                             {.write_concern = contradiction}, use_awaitable));
                  }});
    to.push_back({"empty command", "run_command", "sea", [](shop& in) {
                      return why_not(
                          in, in.s.client->run_command("sea", everything, {}, use_awaitable));
                  }});
}

TEST(error_names, operation_that_cannot_be_sent_names_command_and_namespace)
{
    std::vector<senseless> all;
    add_writes(all);
    add_others(all);
    shop in;
    for (const senseless& one : all) {
        SCOPED_TRACE(one.what);
        const auto failed = one.call(in);
        ASSERT_TRUE(failed);
        EXPECT_EQ(mongo::kind_of(*failed), mongo::error_kind::client) << failed->explain();
        expect_named(*failed, one.command, one.space);
    }
    EXPECT_EQ(in.story(), "");
    in.close();
}

void expect_refused(const error& why, std::string_view command, std::string_view space)
{
    expect_named(why, command, space);
    EXPECT_EQ(mongo::server_code(why), 11000);
    EXPECT_EQ(why.context("codeName"), "DuplicateKey") << why.explain();
    EXPECT_NE(why.context("server"), "") << why.explain();
    ASSERT_EQ(why.history().size(), 1U) << why.explain();
    const attempt& only = why.history().front();
    EXPECT_EQ(only.phase, dispatch_phase::answered);
    EXPECT_EQ(only.server.value(), why.context("server"));
    EXPECT_EQ(only.cause, why.code());
    EXPECT_FALSE(mongo::may_have_been_applied(why));
}

TEST(error_names, refused_writes_among_many_have_server_code_name_and_attempts)
{
    lab_scene s;
    s.connect();
    const mongo::collection coll = s.test_collection();
    const bson::document again = bson::doc("_id", 1);
    ASSERT_TRUE(s.get(coll.insert_one(again, {}, use_awaitable)));

    const auto one = s.get(coll.insert_one(again, {}, use_awaitable));
    ASSERT_FALSE(one);
    expect_refused(one.error(), "insert into sea.coll", "sea.coll");

    const auto many = s.get(coll.insert_many(std::vector{again}, {}, use_awaitable));
    ASSERT_FALSE(many);
    expect_refused(many.error(), "insert into sea.coll", "sea.coll");

    mongo::bulk_writes work;
    work.insert_one(again);
    const auto bulk = s.get(coll.bulk_write(std::move(work), {}, use_awaitable));
    ASSERT_FALSE(bulk);
    expect_refused(bulk.error(), "bulk write to sea.coll", "sea.coll");

    mongo::client_bulk_writes everywhere;
    everywhere.insert_one("lake.other", bson::doc("_id", 1)).insert_one("sea.coll", again);
    const auto all = s.get(s.client->bulk_write(std::move(everywhere), {}, use_awaitable));
    ASSERT_FALSE(all);
    expect_refused(all.error(), "bulkWrite in sea.coll", "sea.coll");
    s.close();
}

TEST(error_names, retried_and_then_refused_write_among_many_has_both_attempts)
{
    lab_scene s;
    s.connect();
    const bson::document again = bson::doc("_id", 1);
    ASSERT_TRUE(s.get(s.test_collection().insert_one(again, {}, use_awaitable)));
    s.fail(once, R"({"failCommands": ["insert"], "errorCode": 91,
                     "errorLabels": ["RetryableWriteError"]})");
    const auto many = s.get(s.test_collection().insert_many(std::vector{again}, {}, use_awaitable));
    ASSERT_FALSE(many);
    ASSERT_EQ(many.error().history().size(), 2U) << many.error().explain();
    EXPECT_EQ(many.error().history()[0].cause.value(), 91);
    EXPECT_EQ(many.error().history()[1].cause.value(), 11000);
    s.close();
}

TEST(error_names, reply_that_is_no_cursor_names_command_and_namespace)
{
    const scripted_reply broken{.body = bson::doc("ok", 1.0)};
    reading at_once{broken};
    mongo::cursor first_of = at_once.find();
    const auto opened = at_once.next_batch(first_of);
    ASSERT_FALSE(opened);
    expect_named(opened.error(), "find", "sea.coll");
    expect_clean(at_once.s);

    reading later{first(42, R"([{"_id": 1}])"), {broken}};
    mongo::cursor second_of = later.find();
    ASSERT_TRUE(later.next_batch(second_of));
    const auto further = later.next_batch(second_of);
    ASSERT_FALSE(further);
    expect_named(further.error(), "getMore", "sea.coll");
    EXPECT_EQ(later.s.close(), "");
}

TEST(error_names, query_that_is_out_of_time_between_batches_names_its_namespace)
{
    reading r{first(42, R"([{"_id": 1}])"), {more(0, R"([{"_id": 2}])")}};
    mongo::cursor found = r.find({.timeout = 100ms});
    ASSERT_TRUE(r.next_batch(found));
    r.s.simulation.run_for(200ms);
    const auto late = r.next_batch(found);
    ASSERT_FALSE(late);
    EXPECT_EQ(mongo::kind_of(late.error()), mongo::error_kind::timeout);
    expect_named(late.error(), "getMore", "sea.coll");
    EXPECT_EQ(r.s.close(), "");
}

}  // namespace
}  // namespace holdfast::proof::error_names_test
