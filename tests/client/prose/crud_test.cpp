#include "client/prose/lab_scene.hpp"

/// The prose tests of the CRUD specification, by their numbers, with the limits of a real server.
/// Not here: 8 (transactions), 10 (removed), 13 (encryption), 14 (explain).
namespace holdfast::proof::crud_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_writes = 100'000;  // maxWriteBatchSize
constexpr std::size_t largest_document = 16 * 1024 * 1024;  // maxBsonObjectSize
constexpr std::size_t largest_message = 48'000'000;  // maxMessageSizeBytes
constexpr auto space = "db.coll";  // as in the specification, whose sizes depend on it

using bulk_outcome = result<mongo::client_bulk_write_result>;

bulk_outcome write(lab_scene& s, mongo::client_bulk_writes work,
                   mongo::bulk_write_options options = {})
{
    return s.get(s.client->bulk_write(std::move(work), options, use_awaitable));
}

mongo::collection collection(const lab_scene& s)
{
    return (*s.client)["db"]["coll"];
}

std::int64_t inserted(const bulk_outcome& by)
{
    EXPECT_TRUE(by) << by.error().explain();
    return by ? by->inserted_count : -1;
}

mongo::client_bulk_writes many_inserts(std::size_t count, const bson::document& what)
{
    mongo::client_bulk_writes work;
    for (std::size_t n = 0; n < count; ++n)
        work.insert_one(space, what.view());
    return work;
}

bson::document wide(std::size_t characters)
{
    return bson::doc("a", std::string(characters, 'b'));
}

/// The lengths of a field of all bulkWrite commands.
std::vector<std::size_t> lengths(const lab_scene& s, std::string_view field)
{
    std::vector<std::size_t> all;
    for (const record& one : s.started("bulkWrite"))
        all.push_back(length_of(one.body, field));
    return all;
}

void expect_one_operation(const lab_scene& s)
{
    for (const record& one : s.started("bulkWrite"))
        EXPECT_EQ(one.operation, s.started("bulkWrite")[0].operation);
}

using sizes = std::vector<std::size_t>;

TEST(prose_crud, 1_write_concern_error_details_are_exposed)
{
    lab_scene s;
    s.connect();
    s.fail(once, R"({"failCommands": ["insert"],
                     "writeConcernError": {"code": 100, "codeName": "UnsatisfiableWriteConcern",
                         "errmsg": "Not enough data-bearing nodes",
                         "errInfo": {"writeConcern": {"w": 2, "wtimeout": 0,
                                                      "provenance": "clientSupplied"}}}})");
    const bson::document one = bson::doc("_id", 1);
    const auto done = s.get(collection(s).insert_one(one.view(), {}, use_awaitable));
    ASSERT_FALSE(done);
    EXPECT_EQ(mongo::kind_of(done.error()), mongo::error_kind::write) << done.error().explain();
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received);
    ASSERT_EQ(received->write_concern_errors.size(), 1U);
    EXPECT_EQ(received->write_concern_errors[0].code, 100);
    EXPECT_EQ(received->write_concern_errors[0].code_name, "UnsatisfiableWriteConcern");
    EXPECT_EQ(received->write_concern_errors[0].details,
              bson::doc("writeConcern",
                        bson::object("w", 2, "wtimeout", 0, "provenance", "clientSupplied")));
    s.close();
}

TEST(prose_crud, 2_write_error_details_are_exposed)
{
    lab_scene s;
    s.connect();
    const bson::document rule = bson::doc("x", bson::object("$type", "string"));
    ASSERT_TRUE(s.get(
        (*s.client)["db"].create_collection("coll", {.validator = rule.view()}, use_awaitable)));
    const bson::document wrong = bson::doc("x", 1);
    const auto done = s.get(collection(s).insert_one(wrong.view(), {}, use_awaitable));
    ASSERT_FALSE(done);
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received) << done.error().explain();
    ASSERT_EQ(received->write_errors.size(), 1U);
    EXPECT_EQ(received->write_errors[0].code, 121);
    const auto replies = s.of(heard::command_succeeded, "insert");
    ASSERT_EQ(replies.size(), 1U);
    const bson::element said =
        replies[0].body["writeErrors"].as_array()[0].as_document()["errInfo"];
    ASSERT_EQ(said.type(), bson::type::document);
    EXPECT_EQ(received->write_errors[0].details, bson::document{said.as_document()});
    s.close();
}

TEST(prose_crud, 3_client_bulk_write_splits_at_max_write_batch_size)
{
    lab_scene s;
    s.connect();
    const auto done = write(s, many_inserts(most_writes + 1, bson::doc("a", "b")));
    EXPECT_EQ(inserted(done), most_writes + 1);
    EXPECT_EQ(lengths(s, "ops"), (sizes{most_writes, 1}));
    expect_one_operation(s);
    s.close();
}

TEST(prose_crud, 4_client_bulk_write_splits_at_max_message_size_bytes)
{
    lab_scene s;
    s.connect();
    constexpr std::size_t models = largest_message / largest_document + 1;
    const auto done = write(s, many_inserts(models, wide(largest_document - 500)));
    EXPECT_EQ(inserted(done), models);
    EXPECT_EQ(lengths(s, "ops"), (sizes{models - 1, 1}));
    expect_one_operation(s);
    s.close();
}

TEST(prose_crud, 5_write_concern_errors_are_collected_across_batches)
{
    lab_scene s;
    s.connect("&retryWrites=false");
    s.open();
    s.fail(twice, R"({"failCommands": ["bulkWrite"], "writeConcernError": {"code": 91,
                      "errmsg": "Replication is being shut down"}})");
    const auto done = write(s, many_inserts(most_writes + 1, bson::doc("a", "b")));
    ASSERT_FALSE(done);
    EXPECT_EQ(mongo::kind_of(done.error()), mongo::error_kind::bulk_write);
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received) << done.error().explain();
    EXPECT_EQ(received->write_concern_errors.size(), 2U);
    ASSERT_TRUE(received->partial_client_result);
    EXPECT_EQ(received->partial_client_result->inserted_count, most_writes + 1);
    EXPECT_EQ(s.started("bulkWrite").size(), 2U);
    s.close();
}

TEST(prose_crud, 6_write_errors_are_collected_unless_ordered)
{
    for (const bool ordered : {false, true}) {
        lab_scene s;
        s.connect();
        const bson::document same = bson::doc("_id", 1);
        ASSERT_TRUE(s.get(collection(s).insert_one(same.view(), {}, use_awaitable)));
        const auto done = write(s, many_inserts(most_writes + 1, same), {.ordered = ordered});
        ASSERT_FALSE(done);
        const mongo::write_failure* const received = mongo::write_failure_of(done.error());
        ASSERT_TRUE(received) << done.error().explain();
        EXPECT_EQ(received->write_errors.size(), ordered ? 1U : most_writes + 1);
        EXPECT_EQ(s.started("bulkWrite").size(), ordered ? 1U : 2U);
        if (!ordered) {
            EXPECT_EQ(received->write_errors.back().index, most_writes);
        }
        s.close();
    }
}

/// Two upserts whose results do not fit into one reply.
mongo::client_bulk_writes long_upserts()
{
    const bson::document change = bson::doc("$set", bson::object("x", 1));
    mongo::client_bulk_writes work;
    for (const char letter : {'a', 'b'}) {
        const bson::document filter = bson::doc("_id", std::string(largest_document / 2, letter));
        work.update_one(space, filter.view(), change, {.upsert = true});
    }
    return work;
}

TEST(prose_crud, 7_results_cursor_that_needs_get_more_is_read)
{
    lab_scene s;
    s.connect();
    const auto done = write(s, long_upserts(), {.verbose_results = true});
    ASSERT_TRUE(done) << done.error().explain();
    EXPECT_EQ(done->upserted_count, 2);
    EXPECT_EQ(done->update_results.size(), 2U);
    EXPECT_EQ(s.started("getMore").size(), 1U);
    s.close();
}

TEST(prose_crud, 9_get_more_error_keeps_partial_results)
{
    lab_scene s;
    s.connect();
    s.fail(once, R"({"failCommands": ["getMore"], "errorCode": 8})");
    const auto done = write(s, long_upserts(), {.verbose_results = true});
    ASSERT_FALSE(done);
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received) << done.error().explain();
    ASSERT_TRUE(received->ended_by);
    EXPECT_EQ(mongo::server_code(*received->ended_by), 8);
    ASSERT_TRUE(received->partial_client_result);
    EXPECT_EQ(received->partial_client_result->upserted_count, 2);
    EXPECT_EQ(received->partial_client_result->update_results.size(), 1U);
    s.simulation.run_for(1s);
    EXPECT_EQ(s.started("getMore").size(), 1U);
    EXPECT_EQ(s.started("killCursors").size(), 1U);
    s.close();
}

/// As many bytes as leave room for one more small write, but not for a long namespace.
mongo::client_bulk_writes nearly_full(std::size_t& models)
{
    constexpr std::size_t bytes = largest_message - 1122;
    constexpr std::size_t rest = bytes % largest_document;
    models = bytes / largest_document;
    mongo::client_bulk_writes work = many_inserts(models, wide(largest_document - 57));
    if (rest >= 217) {
        ++models;
        work.insert_one(space, wide(rest - 57).view());
    }
    return work;
}

TEST(prose_crud, 11_known_namespace_needs_no_batch_split)
{
    lab_scene s;
    s.connect();
    std::size_t models = 0;
    auto work = nearly_full(models);
    work.insert_one(space, bson::doc("a", "b").view());
    EXPECT_EQ(inserted(write(s, std::move(work))), static_cast<std::int64_t>(models) + 1);
    EXPECT_EQ(lengths(s, "ops"), sizes{models + 1});
    EXPECT_EQ(lengths(s, "nsInfo"), sizes{1});
    const auto sent = s.started("bulkWrite");
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].body.get<std::string>("nsInfo.0.ns").value_or(""), space);
    s.close();
}

TEST(prose_crud, 11_new_namespace_splits_the_batch)
{
    lab_scene s;
    s.connect();
    std::size_t models = 0;
    auto work = nearly_full(models);
    const std::string other = "db." + std::string(200, 'c');
    work.insert_one(other, bson::doc("a", "b").view());
    EXPECT_EQ(inserted(write(s, std::move(work))), static_cast<std::int64_t>(models) + 1);
    EXPECT_EQ(lengths(s, "ops"), (sizes{models, 1}));
    EXPECT_EQ(lengths(s, "nsInfo"), (sizes{1, 1}));
    const auto sent = s.started("bulkWrite");
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[0].body.get<std::string>("nsInfo.0.ns").value_or(""), space);
    EXPECT_EQ(sent[1].body.get<std::string>("nsInfo.0.ns").value_or(""), other);
    s.close();
}

TEST(prose_crud, 12_write_too_large_for_a_message_is_refused)
{
    lab_scene s;
    s.connect();
    mongo::client_bulk_writes large_document;
    large_document.insert_one(space, wide(largest_message).view());
    mongo::client_bulk_writes large_name;
    large_name.insert_one("db." + std::string(largest_message, 'c'), bson::doc("a", "b").view());
    for (auto* const work : {&large_document, &large_name}) {
        const auto done = write(s, std::move(*work));
        ASSERT_FALSE(done);
        const error& why = done.error();
        const mongo::write_failure* const received = mongo::write_failure_of(why);
        const error& first = received && received->ended_by ? *received->ended_by : why;
        EXPECT_EQ(mongo::kind_of(first), mongo::error_kind::client) << why.explain().substr(0, 500);
        EXPECT_TRUE(!received || !received->partial_client_result);
    }
    EXPECT_EQ(s.started("bulkWrite").size(), 0U);
    s.close();
}

TEST(prose_crud, 15_every_batch_of_an_unacknowledged_write_has_w_0)
{
    lab_scene s;
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.get((*s.client)["db"].create_collection("coll", {}, use_awaitable)));
    constexpr std::size_t models = largest_message / largest_document + 1;
    const auto done = write(s, many_inserts(models, wide(largest_document - 500)),
                            {.write_concern = mongo::unacknowledged, .ordered = false});
    ASSERT_TRUE(done) << done.error().explain();
    EXPECT_FALSE(done->acknowledged);
    EXPECT_EQ(lengths(s, "ops"), (sizes{models - 1, 1}));
    expect_one_operation(s);
    for (const record& one : s.started("bulkWrite"))
        EXPECT_EQ(one.body.get<std::int32_t>("writeConcern.w").value_or(-1), 0);
    const auto count = s.get(collection(s).count_documents(bson::doc().view(), {}, use_awaitable));
    ASSERT_TRUE(count) << count.error().explain();
    EXPECT_EQ(*count, models);
    s.close();
}

TEST(prose_crud, 16_generated_id_is_the_first_field)
{
    lab_scene s;
    s.connect();
    const bson::document without = bson::doc("x", 1);
    mongo::bulk_writes of_collection;
    of_collection.insert_one(without.view());
    ASSERT_TRUE(s.get(collection(s).insert_one(without.view(), {}, use_awaitable)));
    ASSERT_TRUE(s.get(collection(s).bulk_write(std::move(of_collection), {}, use_awaitable)));
    ASSERT_TRUE(write(s, many_inserts(1, without)));
    ASSERT_EQ(s.started("insert").size(), 2U);
    for (const record& one : s.started("insert"))
        EXPECT_EQ((*one.body["documents"].as_array()[0].as_document().begin()).key(), "_id");
    ASSERT_EQ(s.started("bulkWrite").size(), 1U);
    const record bulk = s.started("bulkWrite")[0];
    const bson::view op = bulk.body["ops"].as_array()[0].as_document();
    EXPECT_EQ((*op["document"].as_document().begin()).key(), "_id");
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::crud_test
