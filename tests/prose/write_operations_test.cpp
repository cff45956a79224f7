#include "prose/shop.hpp"

#include <set>

/// What the operations of a collection make of retryable writes: which commands they send, and
/// what these carry. The server is scripted, and takes two writes at a time.
namespace holdfast::proof {
namespace {

using namespace std::chrono_literals;

/// All single writes that can be repeated.
void write_each_kind(shop& in, mongo::write_concern with = {.w = 1})
{
    const auto k = in.kelp().with({.write_concern = with});
    EXPECT_TRUE(in.good(k.insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.update_one(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.replace_one(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_one(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.find_one_and_delete(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(
        in.good(k.find_one_and_replace(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.find_one_and_update(everything.view(), change, {}, use_awaitable)));
}

TEST(write_operations, single_writes_carry_a_number)
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

TEST(write_operations, each_command_of_many_inserts_has_a_number_of_its_own)
{
    VERIFIES("RW-025");
    VERIFIES("RW-044");
    for (const bool ordered : {true, false}) {
        shop in;
        EXPECT_TRUE(
            in.good(in.kelp().insert_many(five_documents(), {.ordered = ordered}, use_awaitable)));
        EXPECT_EQ(in.story(), "insert:1 insert:2 insert:3");
        in.close();
    }
}

TEST(write_operations, each_command_of_a_bulk_is_judged_on_its_own)
{
    VERIFIES("RW-026");
    VERIFIES("RW-044");
    for (const bool ordered : {true, false}) {
        shop in;
        EXPECT_TRUE(in.good(in.kelp().bulk_write(mixed(), {.ordered = ordered}, use_awaitable)));
        EXPECT_EQ(in.story(), "insert:1 update delete:2");
        in.close();
    }
}

/// The statements of each command, without what identifies a write.
std::string grouping(const std::string& more)
{
    shop in{more};
    EXPECT_TRUE(in.good(in.kelp().bulk_write(mixed(), {}, use_awaitable)));
    std::string told;
    for (const record& one : in.s.events().of(heard::command_started)) {
        for (const char* const field : {"documents", "updates", "deletes"}) {
            if (!one.body[field])
                continue;
            std::size_t count = 0;
            for ([[maybe_unused]] const bson::element& each : one.body[field].as_array())
                ++count;
            told += one.name + " of " + std::to_string(count) + "; ";
        }
    }
    in.close();
    return told;
}

TEST(write_operations, a_bulk_is_split_the_same_with_and_without_retries)
{
    VERIFIES("RW-027");
    EXPECT_EQ(grouping("&retryWrites=true"), "insert of 1; update of 2; delete of 1; ");
    EXPECT_EQ(grouping("&retryWrites=false"), "insert of 1; update of 2; delete of 1; ");
}

TEST(write_operations, a_session_of_the_application_is_that_of_the_transaction_id)
{
    VERIFIES("RW-036");
    shop in;
    in.server.on_command("insert", in_turn({hang_up(), good_write(), hang_up(), good_write()}));
    const mongo::session mine = in.s.client->start_session();
    EXPECT_TRUE(in.good(in.kelp().insert_one(whole.view(), {.session = &mine}, use_awaitable)));
    EXPECT_TRUE(in.good(in.kelp().insert_one(whole.view(), {}, use_awaitable)));
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

TEST(write_operations, a_command_of_the_application_is_sent_as_it_is)
{
    VERIFIES("RW-041");
    shop in;
    in.server.on_command("insert", in_turn({good_write(), good_write(), hang_up(), good_write()}));
    EXPECT_TRUE(in.s.run(insert_of(1)).good());
    EXPECT_FALSE(in.server.commands("insert").back().body["txnNumber"]);
    const bson::document numbered = bson::doc("insert", "kelp", "documents",
                                              bson::list(bson::object("_id", 2)), "txnNumber",
                                              std::int64_t{77});
    EXPECT_TRUE(in.s.run(numbered).good());
    EXPECT_EQ(in.server.commands("insert").back().body["txnNumber"].as_int64(), 77);
    EXPECT_FALSE(in.s.run(insert_of(3)).good()) << "it is not repeated";
    EXPECT_EQ(in.server.count("insert"), 3U);
    in.close();
}

TEST(write_operations, a_command_of_the_application_is_sent_as_it_is_to_old_servers_too)
{
    VERIFIES("RD-010");
    scene s{{.hosts = {"a"}}};
    s.set.wire_version = 6;
    s.set.has_sessions = false;
    s.connect();
    EXPECT_TRUE(s.run(bson::doc("insert", "kelp", "documents", bson::list(bson::object("_id", 1)),
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
    std::string told;
    for (const std::string& one : names)
        told += one + " ";
    return told;
}

TEST(write_operations, an_update_looks_as_the_specification_says)
{
    VERIFIES("RW-043");
    shop in;
    EXPECT_TRUE(in.good(
        in.kelp().update_one(bson::doc("x", 1).view(), change, {.upsert = false}, use_awaitable)));
    const bson::document sent = in.server.commands("update").back().body;
    EXPECT_EQ((*sent.begin()).key(), "update");
    EXPECT_EQ(fields_of(sent.view()), "$db lsid ordered txnNumber update updates ");
    EXPECT_EQ(sent["update"].as_string(), "kelp");
    EXPECT_TRUE(sent["ordered"].as_bool());
    EXPECT_EQ(sent["txnNumber"].type(), bson::type::int64);
    const bson::view statement = sent["updates"].as_array()[0].as_document();
    EXPECT_EQ(bson::document{statement["q"].as_document()}, bson::doc("x", 1));
    EXPECT_EQ(bson::document{statement["u"].as_document()}, change);
    EXPECT_FALSE(statement["multi"] && statement["multi"].as_bool());
    EXPECT_FALSE(statement["upsert"] && statement["upsert"].as_bool());
    in.close();
}

TEST(write_operations, what_cannot_be_repeated_carries_no_number)
{
    VERIFIES("RW-070");
    shop in;
    const auto k = in.kelp();
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

TEST(write_operations, what_is_not_acknowledged_carries_no_number)
{
    VERIFIES("RW-070");
    shop in;
    // The server answers nothing to these.
    for (const char* const name : {"insert", "update", "delete", "findAndModify"})
        in.server.on_command(name, [](const scripted_command&) { return keep_silent(); });
    const auto k = in.kelp().with({.write_concern = mongo::unacknowledged});
    EXPECT_TRUE(in.good(k.insert_one(whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.update_one(everything.view(), change, {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.replace_one(everything.view(), whole.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.delete_one(everything.view(), {}, use_awaitable)));
    EXPECT_TRUE(in.good(k.insert_many(five_documents(), {.ordered = false}, use_awaitable)));
    in.s.simulation.run_for(100ms);
    EXPECT_EQ(in.story(), "insert update update delete insert insert insert");
    in.close();
}

}  // namespace
}  // namespace holdfast::proof
