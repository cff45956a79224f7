#include "client/prose/lab_scene.hpp"
#include "client/prose/shop.hpp"
#include "holdfast/mongo/client_options.hpp"

#include <map>
#include <regex>

/// What becomes of operations whose commands fail.
namespace holdfast::proof::write_failures_test {
namespace {

using namespace std::chrono_literals;

TEST(write_failures, failed_retry_ends_an_ordered_or_unordered_bulk_write)
{
    VERIFIES("RW-058");
    VERIFIES("RW-059");
    for (const bool ordered : {true, false}) {
        shop in;
        in.server.on_command("update", in_turn({hang_up()}));
        mongo::bulk_writes work;
        work.insert_one(whole.view())
            .update_one(everything.view(), change)
            .delete_one(everything.view());
        const auto done = in.get(
            in.test_collection().bulk_write(std::move(work), {.ordered = ordered}, use_awaitable));
        ASSERT_FALSE(done);
        EXPECT_EQ(in.story(), "insert:1 update:2 update:2");
        const mongo::write_failure* const received = mongo::write_failure_of(done.error());
        ASSERT_TRUE(received) << done.error().explain();
        ASSERT_TRUE(received->partial_result);
        EXPECT_EQ(received->partial_result->inserted_count, 1);
        EXPECT_TRUE(received->ended_by);
        EXPECT_TRUE(mongo::may_have_been_applied(done.error()));
        in.close();
    }
}

TEST(write_failures, failed_retry_ends_an_ordered_or_unordered_insert_many)
{
    VERIFIES("RW-058");
    VERIFIES("RW-059");
    for (const bool ordered : {true, false}) {
        shop in;
        in.server.on_command(
            "insert",
            in_turn({{.body = bson::doc("n", 2, "ok", 1.0)}, hang_up(), hang_up(), good_write()}));
        const auto done = in.get(in.test_collection().insert_many(
            five_documents(), {.ordered = ordered}, use_awaitable));
        ASSERT_FALSE(done);
        EXPECT_EQ(in.story(), "insert:1 insert:2 insert:2");
        const mongo::write_failure* const received = mongo::write_failure_of(done.error());
        ASSERT_TRUE(received) << done.error().explain();
        ASSERT_TRUE(received->partial_result);
        EXPECT_EQ(received->partial_result->inserted_count, 2);
        in.close();
    }
}

TEST(write_failures, all_commands_of_a_bulk_write_share_their_operation_id)
{
    VERIFIES("RW-066");
    shop in;
    in.server.on_command("update", in_turn({hang_up(), good_write()}));
    mongo::bulk_writes work;
    work.insert_one(whole.view())
        .update_one(everything.view(), change)
        .delete_one(everything.view());
    EXPECT_TRUE(in.good(in.test_collection().bulk_write(std::move(work), {}, use_awaitable)));
    const auto bulk = in.s.events().of(heard::command_started);
    ASSERT_EQ(bulk.size(), 4U);
    for (const record& one : bulk) {
        EXPECT_EQ(one.operation, bulk[0].operation);
        ASSERT_TRUE(one.transaction);
    }
    EXPECT_EQ(bulk[3].transaction->number, 3);
    EXPECT_TRUE(in.good(in.test_collection().insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_NE(in.s.events().of(heard::command_started).back().operation, bulk[0].operation);
    in.close();
}

TEST(write_failures, unacknowledged_commands_share_their_operation_id)
{
    VERIFIES("RW-066");
    shop in;
    in.server.on_command("insert", [](const scripted_command&) { return keep_silent(); });
    const auto quietly = in.test_collection().with({.write_concern = mongo::unacknowledged});
    EXPECT_TRUE(in.good(quietly.insert_many(five_documents(), {.ordered = false}, use_awaitable)));
    const auto sent = in.s.events().of(heard::command_started);
    ASSERT_EQ(sent.size(), 3U);
    for (const record& one : sent)
        EXPECT_EQ(one.operation, sent[0].operation);
    in.close();
}

/// A command without what differs from run to run: the session, the time of the cluster, and the
/// _ids that the library has made. The fields behind the first one are in the order of their names.
std::string in_the_log(bson::view command)
{
    std::map<std::string, bson::element> rest;
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& one : command) {
        if (one.key() == (*command.begin()).key())
            out.copy(one);
        else if (one.key() != "lsid" && one.key() != "$clusterTime")
            rest.emplace(one.key(), one);
    }
    for (const auto& [name, one] : rest)
        out.copy(one);
    (void)out.finish().value();
    static const std::regex made_id{R"("_id":\{"\$oid":"[0-9a-f]{24}"\})"};
    return std::regex_replace(bson::to_json(bson::document::adopt(std::move(bytes)).view()).value(),
                              made_id, R"("_id":"made")");
}

std::vector<std::string> log_of(const shop& of)
{
    std::vector<std::string> lines;
    for (const record& one : of.s.events().of(heard::command_started)) {
        EXPECT_TRUE(one.body["lsid"]) << one.name;
        lines.push_back(in_the_log(one.body.view()));
    }
    return lines;
}

TEST(write_failures, commands_without_retry_writes_have_no_txn_number)
{
    VERIFIES("RW-074");
    shop in{"&retryWrites=false"};
    const auto k = in.test_collection();
    EXPECT_TRUE(in.good(k.insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.insert_one(bson::doc("_id", 5).view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.update_one(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.update_many(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.replace_one(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_one(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_many(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.find_one_and_update(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(
        in.good(k.find_one_and_replace(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.find_one_and_delete(everything.view(), {}, use_awaitable)));
    in.accept_pairs();
    const std::vector<bson::document> three(3, whole);
    EXPECT_TRUE(in.good(k.insert_many(three, {.ordered = false}, use_awaitable)));
    EXPECT_TRUE(in.good(k.bulk_write(mixed(), {}, use_awaitable)));
    const std::string insert = R"({"insert":"coll","$db":"sea","documents":[)";
    const std::string update = R"({"update":"coll","$db":"sea","ordered":true,"updates":[)";
    const std::string remove = R"({"delete":"coll","$db":"sea","deletes":[)";
    const std::string modify = R"({"findAndModify":"coll","$db":"sea","query":{},)";
    const std::string made = R"({"_id":"made","a":1})";
    const std::string change_one = R"({"q":{},"u":{"$set":{"a":1}}})";
    const std::string change_all = R"({"q":{},"u":{"$set":{"a":1}},"multi":true})";
    const std::string in_order = R"(],"ordered":true})";
    const std::string in_any_order = R"(],"ordered":false})";
    const std::vector<std::string> golden{
        insert + made + in_order,
        insert + R"({"_id":5})" + in_order,
        update + change_one + "]}",
        update + change_all + "]}",
        update + R"({"q":{},"u":{"a":1}}]})",
        remove + R"({"q":{},"limit":1})" + in_order,
        remove + R"({"q":{},"limit":0})" + in_order,
        modify + R"("update":{"$set":{"a":1}}})",
        modify + R"("update":{"a":1}})",
        modify + R"("remove":true})",
        insert + made + "," + made + in_any_order,
        insert + made + in_any_order,
        insert + made + in_order,
        update + change_one + "," + change_all + "]}",
        remove + R"({"q":{},"limit":1})" + in_order,
    };
    EXPECT_EQ(log_of(in), golden);
    in.server.on_command("insert", in_turn({hang_up(), good_write()}));
    const std::size_t before = in.server.count("insert");
    EXPECT_FALSE(in.get(k.insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_EQ(in.server.count("insert"), before + 1) << "sent once";
    in.close();
}

TEST(write_failures, collation_requires_a_server_that_supports_it)
{
    VERIFIES("RD-029");
    const bson::document french = bson::doc("locale", "fr");
    // Collations came with wire version 5, and the oldest servers that are supported know them.
    for (const bool too_old : {true, false}) {
        shop in{"&serverSelectionTimeoutMS=100"};
        in.s.set.wire_version = too_old ? 4 : 6;
        const auto update = in.get(in.test_collection().update_one(
            everything.view(), change, {.collation = french.view()}, use_awaitable));
        const auto remove = in.get(in.test_collection().delete_one(
            everything.view(), {.collation = french.view()}, use_awaitable));
        if (too_old) {
            ASSERT_FALSE(update);
            ASSERT_FALSE(remove);
            for (const error& why : {update.error(), remove.error()})
                EXPECT_NE(why.explain().find("reports wire version 4"), std::string::npos)
                    << why.explain();
            EXPECT_EQ(in.story(), "") << "nothing was sent";
        } else {
            ASSERT_TRUE(update && remove);
            for (const auto& [name, field] :
                 {std::pair{"update", "updates"}, {"delete", "deletes"}}) {
                const bson::document sent = in.server.commands(name).back().body;
                const bson::view statement = sent[field].as_array()[0].as_document();
                ASSERT_TRUE(statement["collation"]) << name;
                EXPECT_EQ(bson::document{statement["collation"].as_document()}, french) << name;
            }
        }
        in.close();
    }
}

TEST(write_failures, server_selection_error_has_no_attempts)
{
    VERIFIES("RW-045");
    shop in{"&serverSelectionTimeoutMS=100"};
    in.s.set.elect("");
    const operation& raw = in.s.write();
    const auto one = in.get(in.test_collection().insert_one(whole.view(), {}, use_awaitable));
    const auto many = in.get(in.test_collection().insert_many(five_documents(), {}, use_awaitable));
    const auto bulk = in.get(in.test_collection().bulk_write(mixed(), {}, use_awaitable));
    ASSERT_TRUE(raw.done());
    ASSERT_FALSE(raw.good() || one || many || bulk);
    for (const error& why : {raw.outcome->error(), one.error(), many.error(), bulk.error()}) {
        EXPECT_EQ(mongo::kind_of(why), mongo::error_kind::selection) << why.explain();
        EXPECT_FALSE(mongo::may_have_been_applied(why));
        EXPECT_EQ(why.detail(), nullptr) << "no results, not even partial ones";
    }
    EXPECT_EQ(in.s.events().count(heard::command_started), 0U);
    EXPECT_EQ(in.story(), "");
    in.close();
}

TEST(write_failures, run_command_is_retried_after_overload)
{
    VERIFIES("BP-009");
    shop in;
    in.server.on("ping", [](bson::view) { return overload_reply(); });
    EXPECT_EQ(in.s.run(ping_command()).code(), 462);
    EXPECT_EQ(in.server.count("ping"), 6U);
    in.close();
}

void fill(lab_scene& s)
{
    s.connect();
    std::vector<bson::document> all;
    for (int n = 1; n <= 3; ++n)
        all.push_back(bson::doc("_id", n, "x", n * 11));
    ASSERT_TRUE(s.get(s.test_collection().insert_many(all, {}, use_awaitable)));
}

const bson::document good_change = bson::doc("$inc", bson::object("x", 1));
const bson::document bad_change = bson::doc("$set", bson::object("_id", 99));

TEST(write_failures, failed_update_of_one_command_is_named_by_index)
{
    VERIFIES("RD-025");
    lab_scene s;
    fill(s);
    mongo::bulk_writes work;
    work.update_one(bson::doc("_id", 1).view(), good_change)
        .update_many(bson::doc("_id", bson::object("$gt", 1)).view(), bad_change)
        .update_one(bson::doc("_id", 3).view(), good_change);
    const auto done = s.get(s.test_collection().bulk_write(std::move(work), {}, use_awaitable));
    ASSERT_FALSE(done);
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received) << done.error().explain();
    EXPECT_EQ(s.started("update").size(), 1U);
    ASSERT_EQ(received->write_errors.size(), 1U);
    EXPECT_EQ(received->write_errors[0].index, 1);
    ASSERT_TRUE(received->partial_result);
    EXPECT_EQ(received->partial_result->matched_count, 1);
    EXPECT_EQ(received->partial_result->modified_count, 1);
    s.close();
}

TEST(write_failures, failed_write_of_several_commands_is_named_by_index)
{
    VERIFIES("RD-025");
    lab_scene s;
    fill(s);
    mongo::bulk_writes work;
    work.update_one(bson::doc("_id", 1).view(), good_change)
        .delete_many(bson::doc("_id", 2).view())
        .update_one(bson::doc("_id", 3).view(), bad_change)
        .delete_many(bson::doc("_id", 3).view());
    const auto done = s.get(s.test_collection().bulk_write(std::move(work), {}, use_awaitable));
    ASSERT_FALSE(done);
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received) << done.error().explain();
    EXPECT_EQ(s.started("update").size(), 2U);
    EXPECT_EQ(s.started("delete").size(), 1U);
    ASSERT_EQ(received->write_errors.size(), 1U);
    EXPECT_EQ(received->write_errors[0].index, 2);
    ASSERT_TRUE(received->partial_result);
    EXPECT_EQ(received->partial_result->matched_count, 1);
    EXPECT_EQ(received->partial_result->deleted_count, 1);
    s.close();
}

template <class T>
concept takes_write_concern = requires(T options) { options.write_concern; };
template <class T>
concept takes_session = requires(T options) { options.session; };
template <class T>
concept has_retry_writes = requires(T options) { options.retry_writes; } || requires(T options) {
    options.retryWrites;
} || requires(T options) { options.retryable_writes; };
template <class T>
concept has_retry_reads = requires(T options) { options.retry_reads; } || requires(T options) {
    options.retryReads;
} || requires(T options) { options.retryable_reads; };
template <class T>
concept has_retry_option = has_retry_writes<T> || has_retry_reads<T> ||
                           requires(T options) { options.retry; } ||
                           requires(T options) { options.retries; } ||
                           requires(T options) { options.retryable; } ||
                           requires(T options) { options.max_retries; };

template <class... Options>
constexpr bool all_take_sessions = ((!takes_write_concern<Options> || takes_session<Options>) &&
                                    ...);
template <class... Options>
constexpr bool none_speaks_of_retries = (!has_retry_option<Options> && ...);

TEST(write_failures, write_options_have_a_session_and_no_retry_switch)
{
    VERIFIES("RD-004");
    VERIFIES("RW-016");
    VERIFIES("RW-012");
    static_assert(takes_write_concern<mongo::insert_one_options>, "this would prove nothing");
    EXPECT_TRUE(
        (all_take_sessions<mongo::insert_one_options, mongo::insert_many_options,
                           mongo::update_options, mongo::delete_options,
                           mongo::find_and_modify_options, mongo::aggregate_options,
                           mongo::bulk_write_options, mongo::drop_options, mongo::rename_options,
                           mongo::create_collection_options, mongo::index_options>));
    struct outspoken {
        bool retryWrites = false;
    };
    static_assert(has_retry_option<outspoken>, "this would prove nothing");
    EXPECT_TRUE((none_speaks_of_retries<
                 mongo::client_options, mongo::defaults, mongo::command_options,
                 mongo::insert_one_options, mongo::insert_many_options, mongo::update_options,
                 mongo::delete_options, mongo::find_and_modify_options, mongo::aggregate_options,
                 mongo::bulk_write_options, mongo::find_options, mongo::session_options,
                 mongo::count_options, mongo::distinct_options, mongo::drop_options,
                 mongo::rename_options, mongo::create_collection_options, mongo::index_options,
                 mongo::index_model, mongo::list_options, mongo::cursor_command_options,
                 mongo::update_model_options, mongo::delete_model_options>))
        << "it is an option of the connection string alone, under its name in the specification";
}

}  // namespace
}  // namespace holdfast::proof::write_failures_test
