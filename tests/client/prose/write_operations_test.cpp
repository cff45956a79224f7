#include "client/prose/shop.hpp"
#include "holdfast/bson/json.hpp"

#include <set>

/// What the operations of a collection make of retryable writes: which commands they send, and
/// what these carry. The server is scripted, and takes two writes at a time.
namespace holdfast::proof::write_operations_test {
namespace {

using namespace std::chrono_literals;

/// All single writes that can be repeated.
void write_each_kind(shop& in, mongo::write_concern with = {.w = 1})
{
    const auto k = in.test_collection().with({.write_concern = with});
    EXPECT_TRUE(in.good(k.insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.update_one(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.replace_one(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_one(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.find_one_and_delete(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(
        in.good(k.find_one_and_replace(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.find_one_and_update(everything.view(), change, {}, use_awaitable)));
}

TEST(write_operations, single_document_writes_have_increasing_txn_numbers)
{
    VERIFIES("RW-024");
    VERIFIES("RW-040");
    VERIFIES("RW-071");
    shop in;
    write_each_kind(in);
    EXPECT_EQ(in.story(),
              "insert:1 update:2 update:3 delete:4 findAndModify:5 findAndModify:6 "
              "findAndModify:7");
    for (const scripted_command& one : in.server.commands()) {
        if (one.body["txnNumber"]) {
            EXPECT_TRUE(one.body.get<bson::uuid>("lsid.id")) << one.name;
        }
    }
    EXPECT_TRUE(in.s.write(9).good());  // as a command that is said to be a write
    EXPECT_TRUE(in.story().ends_with(" insert:8"));
    in.close();
}

TEST(write_operations, every_insert_many_batch_has_its_own_txn_number)
{
    VERIFIES("RW-025");
    VERIFIES("RW-044");
    for (const bool ordered : {true, false}) {
        shop in;
        in.accept_pairs();
        EXPECT_TRUE(in.good(in.test_collection().insert_many(five_documents(), {.ordered = ordered},
                                                             use_awaitable)));
        EXPECT_EQ(in.story(), "insert:1 insert:2 insert:3");
        in.close();
    }
}

TEST(write_operations, every_bulk_write_batch_decides_its_txn_number)
{
    VERIFIES("RW-026");
    VERIFIES("RW-044");
    for (const bool ordered : {true, false}) {
        shop in;
        EXPECT_TRUE(
            in.good(in.test_collection().bulk_write(mixed(), {.ordered = ordered}, use_awaitable)));
        EXPECT_EQ(in.story(), "insert:1 update delete:2");
        in.close();
    }
}

/// Of all kinds, more than a command takes, and some that cannot be repeated among the others.
mongo::bulk_writes mixed_well()
{
    mongo::bulk_writes work;
    work.update_one(bson::doc("x", 11).view(), change)
        .update_many(bson::doc("x", 12).view(), change)
        .update_one(bson::doc("x", 13).view(), change)
        .delete_one(bson::doc("x", 14).view())
        .delete_many(bson::doc("x", 15).view())
        .insert_one(bson::doc("_id", 16).view())
        .insert_one(bson::doc("_id", 17).view())
        .insert_one(bson::doc("_id", 18).view())
        .update_one(bson::doc("x", 19).view(), change);
    return work;
}

/// How a bulk was split: the number of statements of each command, and all that they say.
struct grouping {
    std::string counts = {};
    std::string statements = {};
};

grouping grouping_with(const std::string& more, bool ordered)
{
    shop in{more};
    in.accept_pairs();
    EXPECT_TRUE(in.good(
        in.test_collection().bulk_write(mixed_well(), {.ordered = ordered}, use_awaitable)));
    grouping found;
    for (const record& one : in.s.events().of(heard::command_started)) {
        for (const char* const field : {"documents", "updates", "deletes"}) {
            if (!one.body[field])
                continue;
            std::size_t count = 0;
            for (const bson::element& each : one.body[field].as_array()) {
                found.statements += bson::to_json(each.as_document()).value() + " ";
                ++count;
            }
            found.counts += one.name + " of " + std::to_string(count) + "; ";
            found.statements += "| ";
        }
    }
    in.close();
    return found;
}

TEST(write_operations, bulk_write_batches_are_equal_with_and_without_retry_writes)
{
    VERIFIES("RW-027");
    for (const bool ordered : {true, false}) {
        const grouping with = grouping_with("&retryWrites=true", ordered);
        const grouping without = grouping_with("&retryWrites=false", ordered);
        EXPECT_EQ(with.counts, ordered ? "update of 2; update of 1; delete of 2; insert of 2; "
                                         "insert of 1; update of 1; "
                                       : "insert of 2; insert of 1; update of 2; update of 2; "
                                         "delete of 2; ");
        EXPECT_EQ(with.counts, without.counts);
        EXPECT_EQ(with.statements, without.statements);
        for (int number = 11; number <= 19; ++number)
            EXPECT_NE(with.statements.find(":" + std::to_string(number) + "}"), std::string::npos)
                << number << " is missing in " << with.statements;
    }
}

TEST(write_operations, explicit_session_gives_lsid_and_txn_number)
{
    VERIFIES("RW-036");
    shop in;
    in.server.on_command("insert", in_turn({hang_up(), good_write(), hang_up(), good_write()}));
    const mongo::session mine = in.s.client->start_session();
    EXPECT_TRUE(
        in.good(in.test_collection().insert_one(whole.view(), {.session = &mine}, use_awaitable)));
    EXPECT_TRUE(in.good(in.test_collection().insert_one(whole.view(), {}, use_awaitable)));
    const auto sent = in.server.commands("insert");
    ASSERT_EQ(sent.size(), 4U);
    std::vector<bson::uuid> ids;
    for (const scripted_command& one : sent)
        ids.push_back(one.body.get<bson::uuid>("lsid.id").value());
    EXPECT_EQ(ids[0], mine.id());
    EXPECT_EQ(ids[1], mine.id());
    EXPECT_NE(ids[2], mine.id());
    EXPECT_EQ(ids[2], ids[3]);
    in.close();
}

TEST(write_operations, run_command_adds_no_txn_number)
{
    VERIFIES("RW-041");
    shop in;
    in.server.on_command("insert", in_turn({good_write(), good_write(), hang_up(), good_write()}));
    EXPECT_TRUE(in.s.run(insert_of(1)).good());
    EXPECT_FALSE(in.server.commands("insert").back().body["txnNumber"]);
    const bson::document numbered = bson::doc("insert", "coll", "documents",
                                              bson::list(bson::object("_id", 2)), "txnNumber",
                                              std::int64_t{77});
    EXPECT_TRUE(in.s.run(numbered).good());
    EXPECT_EQ(in.server.commands("insert").back().body["txnNumber"].as_int64(), 77);
    EXPECT_FALSE(in.s.run(insert_of(3)).good()) << "it is not repeated";
    EXPECT_EQ(in.server.count("insert"), 3U);
    in.close();
}

TEST(write_operations, run_command_sends_a_given_txn_number_to_old_servers)
{
    VERIFIES("RD-010");
    scene s{{.hosts = {"a"}}};
    s.set.wire_version = 6;
    s.set.has_sessions = false;
    s.connect();
    EXPECT_TRUE(s.run(bson::doc("insert", "coll", "documents", bson::list(bson::object("_id", 1)),
                                "txnNumber", std::int64_t{1}))
                    .good());
    const bson::document sent = s.server("a").commands("insert").back().body;
    EXPECT_EQ(sent["txnNumber"].as_int64(), 1);
    EXPECT_FALSE(sent["lsid"]);
    expect_clean(s);
}

/// The names of a document's fields, sorted.
std::string fields_of(bson::view of)
{
    std::set<std::string> names;
    for (const bson::element& one : of)
        names.emplace(one.key());
    std::string received;
    for (const std::string& one : names)
        received += one + " ";
    return received;
}

TEST(write_operations, update_command_has_the_specified_fields)
{
    VERIFIES("RW-043");
    VERIFIES("RW-001");
    VERIFIES_BY_TRAFFIC("RW-042");
    shop in;
    EXPECT_TRUE(in.good(in.test_collection().update_one(bson::doc("x", 1).view(), change,
                                                        {.upsert = false}, use_awaitable)));
    const bson::document sent = in.server.commands("update").back().body;
    EXPECT_EQ((*sent.begin()).key(), "update");
    EXPECT_EQ(fields_of(sent.view()), "$db lsid ordered txnNumber update updates ");
    EXPECT_EQ(sent["update"].as_string(), "coll");
    EXPECT_TRUE(sent["ordered"].as_bool());
    ASSERT_EQ(sent["txnNumber"].type(), bson::type::int64);
    EXPECT_EQ(sent["txnNumber"].as_int64(), 1);
    const bson::view statement = sent["updates"].as_array()[0].as_document();
    const std::set<std::string_view> known{"q", "u", "multi", "upsert"};
    for (const bson::element& one : statement)
        EXPECT_TRUE(known.contains(one.key())) << one.key();
    EXPECT_EQ(bson::document{statement["q"].as_document()}, bson::doc("x", 1));
    EXPECT_EQ(bson::document{statement["u"].as_document()}, change);
    EXPECT_FALSE(statement["multi"] && statement["multi"].as_bool());
    EXPECT_FALSE(statement["upsert"] && statement["upsert"].as_bool());
    in.close();
}

TEST(write_operations, multi_document_writes_have_no_txn_number)
{
    VERIFIES("RW-070");
    shop in;
    const auto k = in.test_collection();
    EXPECT_TRUE(in.good(k.update_many(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_many(everything.view(), {}, use_awaitable)));
    mongo::bulk_writes updates;
    updates.update_one(everything.view(), change).update_many(everything.view(), change);
    EXPECT_TRUE(in.good(k.bulk_write(std::move(updates), {}, use_awaitable)));
    mongo::bulk_writes deletes;
    deletes.delete_one(everything.view()).delete_many(everything.view());
    EXPECT_TRUE(in.good(k.bulk_write(std::move(deletes), {}, use_awaitable)));
    const bson::array out = bson::arr(bson::object("$out", "elsewhere"));
    auto made = k.aggregate(out.view());
    EXPECT_TRUE(in.good(made.all(use_awaitable)));
    EXPECT_EQ(in.story(), "update delete update delete aggregate");
    in.close();
}

TEST(write_operations, unacknowledged_write_carries_the_cluster_time)
{
    shop in;
    const auto time = bson::doc("clusterTime", bson::timestamp{.seconds = 100, .increment = 1});
    in.server.on("insert",
                 [&](bson::view) { return bson::doc("n", 1, "ok", 1.0, "$clusterTime", time); });
    EXPECT_TRUE(in.good(in.test_collection().insert_one(whole.view(), {}, use_awaitable)));
    in.server.on_command("insert", [](const scripted_command&) { return keep_silent(); });
    const auto k = in.test_collection().with({.write_concern = mongo::unacknowledged});
    EXPECT_TRUE(in.good(k.insert_one(bson::doc("_id", 5).view(), {}, use_awaitable)));
    in.s.simulation.run_for(100ms);
    const auto seen = in.server.commands("insert");
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_FALSE(seen[0].body["$clusterTime"]) << "none was known";
    EXPECT_TRUE(seen[1].body["$clusterTime"]);
    EXPECT_FALSE(seen[1].body["lsid"]);
    in.close();
}

TEST(write_operations, unacknowledged_writes_have_no_txn_number)
{
    VERIFIES("RW-070");
    VERIFIES("RW-029");
    shop in;
    // The server answers nothing to these.
    for (const char* const name : {"insert", "update", "delete", "findAndModify"})
        in.server.on_command(name, [](const scripted_command&) { return keep_silent(); });
    const auto k = in.test_collection().with({.write_concern = mongo::unacknowledged});
    EXPECT_TRUE(in.good(k.insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.update_one(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.replace_one(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_one(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.insert_many(five_documents(), {.ordered = false}, use_awaitable)));
    in.s.simulation.run_for(100ms);
    EXPECT_EQ(in.story(), "insert update update delete insert insert insert");
    in.close();
}

TEST(write_operations, unacknowledged_write_is_not_retried_after_close)
{
    VERIFIES("RW-030");
    shop in;
    in.server.on_command("insert", in_turn({hang_up(), good_write()}));
    const auto k = in.test_collection().with({.write_concern = mongo::unacknowledged});
    EXPECT_TRUE(in.good(k.insert_one(whole.view(), {}, use_awaitable))) << "sent is done";
    in.s.simulation.run_for(2s);
    EXPECT_EQ(in.story(), "insert");
    in.close();
}

TEST(write_operations, unacknowledged_write_is_not_retried_after_a_send_error)
{
    VERIFIES("RW-030");
    for (const bool acknowledged : {false, true}) {
        shop in;
        sim::host& host = in.s.host("a");
        host.set_receive_buffer(4096);
        EXPECT_TRUE(in.good(in.test_collection().insert_one(whole.view(), {}, use_awaitable)));
        // The server reads nothing, so the next command is still being sent when the reset comes.
        host.freeze();
        in.s.simulation.at_time(in.s.simulation.now() + 10ms, [&] {
            in.s.simulation.reset_connections(in.s.app, host);
            host.thaw();
        });
        const bson::document large = bson::doc("a", std::string(100'000, 'a'));
        const auto k = in.test_collection().with(
            {.write_concern = acknowledged ? mongo::write_concern{.w = 1} : mongo::unacknowledged});
        const auto done = in.get(k.insert_one(large.view(), {}, use_awaitable));
        in.s.simulation.run_for(2s);
        EXPECT_EQ(done.has_value(), acknowledged);
        if (!done) {
            EXPECT_EQ(mongo::kind_of(done.error()), mongo::error_kind::network)
                << done.error().explain();
        }
        EXPECT_EQ(in.story(), acknowledged ? "insert:1 insert:2" : "insert:1");
        in.close();
    }
}

template <class T>
void expect_broken(const result<T>& done)
{
    ASSERT_FALSE(done);
    EXPECT_EQ(mongo::kind_of(done.error()), mongo::error_kind::network) << done.error().explain();
    EXPECT_TRUE(mongo::may_have_been_applied(done.error()));
}

TEST(write_operations, multi_document_write_is_sent_once_after_a_network_error)
{
    VERIFIES("RW-033");
    VERIFIES("RW-035");
    shop in;
    for (const char* const name : {"update", "delete", "aggregate"})
        in.server.on_command(name, in_turn({hang_up()}));
    const auto k = in.test_collection();
    expect_broken(in.get(k.update_many(everything.view(), change, {}, use_awaitable)));
    expect_broken(in.get(k.delete_many(everything.view(), {}, use_awaitable)));
    mongo::bulk_writes updates;
    updates.update_one(everything.view(), change).update_many(everything.view(), change);
    const auto bulk = in.get(k.bulk_write(std::move(updates), {}, use_awaitable));
    ASSERT_FALSE(bulk);
    const mongo::write_failure* const received = mongo::write_failure_of(bulk.error());
    ASSERT_TRUE(received && received->ended_by) << bulk.error().explain();
    EXPECT_EQ(mongo::kind_of(*received->ended_by), mongo::error_kind::network);
    EXPECT_TRUE(mongo::may_have_been_applied(bulk.error()));
    const bson::array out = bson::arr(bson::object("$out", "elsewhere"));
    auto made = k.aggregate(out.view());
    expect_broken(in.get(made.all(use_awaitable)));
    in.s.simulation.run_for(2s);
    EXPECT_EQ(in.story(), "update delete update aggregate");
    in.close();
}

TEST(write_operations, multi_document_write_is_retried_after_overload)
{
    VERIFIES("RW-033");
    VERIFIES("RW-035");
    VERIFIES("BP-010");
    shop in;
    const auto k = in.test_collection();
    for (const char* const name : {"update", "delete"})
        in.server.on_command(name, in_turn({{.body = overload_reply()}, good_write()}));
    EXPECT_TRUE(in.good(k.update_many(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_many(everything.view(), {}, use_awaitable)));
    const bson::document empty = bson::doc(
        "cursor", bson::object("id", std::int64_t{0}, "ns", "sea.coll", "firstBatch", bson::list()),
        "ok", 1.0);
    in.server.on_command("aggregate", in_turn({{.body = overload_reply()}, {.body = empty}}));
    const bson::array out = bson::arr(bson::object("$out", "elsewhere"));
    auto made = k.aggregate(out.view());
    EXPECT_TRUE(in.good(made.all(use_awaitable)));
    EXPECT_EQ(in.story(), "update update delete delete aggregate aggregate");
    in.close();
}

}  // namespace
}  // namespace holdfast::proof::write_operations_test
