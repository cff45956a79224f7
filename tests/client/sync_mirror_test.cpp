#include "holdfast/mongo/error.hpp"
#include "holdfast/mongo/filter.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "holdfast/mongo/update.hpp"

#include <boost/describe.hpp>
#include <gtest/gtest.h>

#include <concepts>
#include <string>
#include <vector>

namespace holdfast::sync_mirror_test {
namespace {

namespace asio = boost::asio;
using bson::doc;

struct account {
    std::string owner;
    double balance = 0;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

template <class Async, class Sync, class Try>
inline constexpr bool are_twins = false;
template <class T>
inline constexpr bool are_twins<asio::awaitable<result<T>>, T, result<T>> = true;

/// The same name with the same arguments, in three forms.
#define TWINS(async, blocking, name, ...)                                           \
    static_assert(are_twins<decltype(async.name(__VA_ARGS__, asio::use_awaitable)), \
                            decltype(blocking.name(__VA_ARGS__)),                   \
                            decltype(blocking.try_##name(__VA_ARGS__))>)

[[maybe_unused]] void every_operation_of_a_collection(const mongo::collection& a,
                                                      const mongo::sync::collection& s,
                                                      bson::view d, bson::array_view list,
                                                      const account& ada,
                                                      const std::vector<account>& some)
{
    TWINS(a, s, insert_one, d, {});
    TWINS(a, s, insert_one, ada, {});
    TWINS(a, s, update_one, d, d, {});
    TWINS(a, s, update_many, d, d, {});
    TWINS(a, s, replace_one, d, d, {});
    TWINS(a, s, replace_one, d, ada, {});
    TWINS(a, s, delete_one, d, {});
    TWINS(a, s, delete_many, d, {});
    TWINS(a, s, find_one_and_update, d, d, {});
    TWINS(a, s, find_one_and_replace, d, d, {});
    TWINS(a, s, find_one_and_delete, d, {});
    TWINS(a, s, insert_many, some, {});
    static_assert(std::same_as<decltype(a.insert_many(ada, d, ada)),
                               asio::awaitable<mongo::insert_many_result>>);
    static_assert(std::same_as<decltype(s.insert_many(ada, d, ada)), mongo::insert_many_result>);
    TWINS(a, s, bulk_write, mongo::bulk_writes{}, {});
    TWINS(a, s, find_one, d, {});
    TWINS(a, s, count_documents, d, {});
    TWINS(a, s, estimated_document_count, {});
    TWINS(a, s, distinct, "f", d, {});
    TWINS(a, s, create_index, d, d, {});
    TWINS(a, s, create_indexes, std::span<const mongo::index_model>{}, {});
    TWINS(a, s, drop_index, "i", {});
    TWINS(a, s, drop_indexes, {});
    TWINS(a, s, drop, {});
    TWINS(a, s, rename, "n", {});
    static_assert(std::same_as<decltype(s.find(d, {})), mongo::sync::cursor>);
    static_assert(std::same_as<decltype(s.aggregate(list, {})), mongo::sync::cursor>);
    static_assert(std::same_as<decltype(s.list_indexes({})), mongo::sync::cursor>);
    static_assert(std::same_as<decltype(s.with({})), mongo::sync::collection>);
    static_assert(std::same_as<decltype(s.find_one<account>(d)), std::optional<account>>);
    static_assert(
        std::same_as<decltype(s.find_one_and_delete<account>(d)), std::optional<account>>);
}

[[maybe_unused]] void every_operation_of_a_database(const mongo::database& a,
                                                    const mongo::sync::database& s, bson::view d,
                                                    bson::array_view list)
{
    TWINS(a, s, run_command, d, {});
    TWINS(a, s, modify_collection, "c", d, {});
    TWINS(a, s, list_collection_names, {});
    TWINS(a, s, drop, {});
    static_assert(std::same_as<decltype(s.create_collection("c", {})), mongo::sync::collection>);
    static_assert(
        std::same_as<decltype(s.try_create_collection("c", {})), result<mongo::sync::collection>>);
    static_assert(std::same_as<decltype(s.run_cursor_command(d, {})), mongo::sync::cursor>);
    static_assert(std::same_as<decltype(s.aggregate(list, {})), mongo::sync::cursor>);
    static_assert(std::same_as<decltype(s.list_collections({})), mongo::sync::cursor>);
    static_assert(std::same_as<decltype(s["c"]), mongo::sync::collection>);
    static_assert(std::same_as<decltype(s.collection("c", {})), mongo::sync::collection>);
    static_assert(std::same_as<decltype(s.with({})), mongo::sync::database>);
}

[[maybe_unused]] void every_operation_of_a_client(const mongo::client& a,
                                                  const mongo::sync::client& s, bson::view d)
{
    TWINS(a, s, run_command, "db", d, {});
    TWINS(a, s, bulk_write, mongo::client_bulk_writes{}, {});
    TWINS(a, s, list_databases, {});
    TWINS(a, s, list_database_names, {});
    static_assert(std::same_as<decltype(s["db"]), mongo::sync::database>);
    static_assert(std::same_as<decltype(s.database("db", {})), mongo::sync::database>);
    static_assert(std::same_as<decltype(s.default_database()), mongo::sync::database>);
    static_assert(std::same_as<decltype(s.start_session({})), mongo::session>);
    static_assert(std::same_as<decltype(s.try_start_session({})), result<mongo::session>>);
}

[[maybe_unused]] void every_operation_of_a_cursor(mongo::cursor& a, mongo::sync::cursor& s)
{
    static_assert(are_twins<decltype(a.next(asio::use_awaitable)), decltype(s.next()),
                            decltype(s.try_next())>);
    static_assert(are_twins<decltype(a.try_next(asio::use_awaitable)), decltype(s.poll()),
                            decltype(s.try_poll())>);
    static_assert(are_twins<decltype(a.next_batch(asio::use_awaitable)), decltype(s.next_batch()),
                            decltype(s.try_next_batch())>);
    static_assert(
        are_twins<decltype(a.all(asio::use_awaitable)), decltype(s.all()), decltype(s.try_all())>);
    static_assert(are_twins<decltype(a.close(asio::use_awaitable)), decltype(s.close()),
                            decltype(s.try_close())>);
    static_assert(std::same_as<decltype(s.next<account>()), std::optional<account>>);
    static_assert(std::same_as<decltype(s.all<account>()), std::vector<account>>);
}
static_assert(std::input_iterator<mongo::sync::cursor::iterator>);
static_assert(std::sentinel_for<std::default_sentinel_t, mongo::sync::cursor::iterator>);
static_assert(std::movable<mongo::sync::cursor> && !std::copyable<mongo::sync::cursor>);
static_assert(std::movable<mongo::sync::client> && !std::copyable<mongo::sync::client>);
static_assert(std::copyable<mongo::sync::collection> && std::copyable<mongo::sync::database>);

/// No server listens there, and the timeout is short.
mongo::sync::client nowhere()
{
    return mongo::sync::client{"mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=5"};
}

/// That an operation was tried, and that its error came through.
#define FINDS_NO_SERVER(operation)                                                              \
    do {                                                                                        \
        const auto outcome = operation;                                                         \
        ASSERT_FALSE(outcome) << #operation;                                                    \
        EXPECT_EQ(mongo::kind_of(outcome.error()), mongo::error_kind::selection) << #operation; \
    } while (false)

TEST(sync_mirror, every_collection_operation_reports_selection_timeout_in_both_forms)
{
    const auto client = nowhere();
    const auto c = client["bank"]["accounts"];
    const auto d = doc("owner", "ada");
    const auto change = mongo::inc("balance", 5);
    const account ada{.owner = "ada", .balance = 100};
    const std::vector<account> both{ada, ada};
    mongo::bulk_writes work;
    work.insert_one(ada).delete_one(d);
    FINDS_NO_SERVER(c.try_insert_one(d));
    FINDS_NO_SERVER(c.try_insert_one(ada));
    FINDS_NO_SERVER(c.try_update_one(d, change));
    FINDS_NO_SERVER(c.try_update_many(d, change));
    FINDS_NO_SERVER(c.try_replace_one(d, d));
    FINDS_NO_SERVER(c.try_replace_one(d, ada));
    FINDS_NO_SERVER(c.try_delete_one(d));
    FINDS_NO_SERVER(c.try_delete_many(d));
    FINDS_NO_SERVER(c.try_find_one_and_update(d, change));
    FINDS_NO_SERVER(c.try_find_one_and_replace<account>(d, d));
    FINDS_NO_SERVER(c.try_find_one_and_delete(d));
    FINDS_NO_SERVER(c.try_find_one<account>(d));
    FINDS_NO_SERVER(c.try_count_documents(d));
    FINDS_NO_SERVER(c.try_estimated_document_count());
    FINDS_NO_SERVER(c.try_distinct("owner", d));
    FINDS_NO_SERVER(c.try_create_index(doc("owner", 1)));
    FINDS_NO_SERVER(c.try_drop_index("owner_1"));
    FINDS_NO_SERVER(c.try_drop_indexes());
    FINDS_NO_SERVER(c.try_drop());
    FINDS_NO_SERVER(c.try_rename("customers"));
    FINDS_NO_SERVER(c.find(d).try_next<account>());
    FINDS_NO_SERVER(c.aggregate(bson::arr()).try_all());
    FINDS_NO_SERVER(c.list_indexes().try_poll());
    EXPECT_FALSE(c.try_insert_many(both));
    EXPECT_FALSE(c.try_bulk_write(work));
    EXPECT_THROW(c.insert_one(ada), failure);
    auto found = c.find(d);
    EXPECT_THROW(for (bson::view one : found) ADD_FAILURE() << one.size(), failure);
    EXPECT_NO_THROW(c.find(d).close());  // it was never opened
}

TEST(sync_mirror, every_database_and_client_operation_reports_selection_timeout_in_both_forms)
{
    const auto client = nowhere();
    const auto bank = client["bank"];
    const auto ping = doc("ping", 1);
    FINDS_NO_SERVER(bank.try_run_command(ping));
    FINDS_NO_SERVER(bank.run_cursor_command(doc("find", "c")).try_next());
    FINDS_NO_SERVER(bank.aggregate(bson::arr()).try_next_batch());
    FINDS_NO_SERVER(bank.try_create_collection("c"));
    FINDS_NO_SERVER(bank.try_modify_collection("c", doc("hidden", true)));
    FINDS_NO_SERVER(bank.list_collections().try_all());
    FINDS_NO_SERVER(bank.try_list_collection_names());
    FINDS_NO_SERVER(bank.try_drop());
    FINDS_NO_SERVER(client.try_run_command("bank", ping));
    FINDS_NO_SERVER(client.try_list_databases());
    FINDS_NO_SERVER(client.try_list_database_names());
    mongo::client_bulk_writes work;
    work.insert_one("bank.accounts", doc("owner", "ada"));
    EXPECT_FALSE(client.try_bulk_write(work));
    EXPECT_FALSE(client.try_start_session({.causal_consistency = true, .snapshot = true}));
    EXPECT_TRUE(client.try_start_session());
}

TEST(sync_mirror, handles_outlive_their_client_and_report_closed)
{
    auto client = std::make_unique<mongo::sync::client>(nowhere());
    auto accounts = (*client)["bank"]["accounts"];
    auto others = nowhere()["bank"]["accounts"];  // of a client that is gone already
    auto found = accounts.find(doc());
    client.reset();
    const auto outcome = accounts.try_find_one(doc());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(mongo::kind_of(outcome.error()), mongo::error_kind::cancelled);
    EXPECT_FALSE(found.try_next());
    accounts = others;  // ends the thread that the first client had
    EXPECT_FALSE(accounts.try_drop());
}

}  // namespace
}  // namespace holdfast::sync_mirror_test
