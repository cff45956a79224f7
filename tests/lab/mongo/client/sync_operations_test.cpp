#include "holdfast/mongo/error.hpp"
#include "holdfast/mongo/filter.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "holdfast/mongo/update.hpp"
#include "lab/mongo/client/client_lab.hpp"

#include <boost/describe.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace holdfast::proof::sync_operations_test {
namespace {

using namespace mongo;
using bson::doc;

struct account {
    std::string owner;
    std::int32_t balance = 0;
    friend bool operator==(const account&, const account&) = default;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

bool has(const std::vector<std::string>& names, std::string_view wanted)
{
    return std::ranges::find(names, wanted) != names.end();
}

TEST(lab_sync_operations, documents_are_written_found_changed_and_deleted)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto accounts = client["bank"]["accounts"];
    EXPECT_EQ(accounts.name(), "accounts");
    EXPECT_EQ(accounts.database_name(), "bank");

    const account ada{.owner = "ada", .balance = 100};
    EXPECT_FALSE(accounts.insert_one(ada).inserted_id.empty());
    const std::vector<account> more{{"bob", 20}, {"eve", 5}, {"joe", 300}};
    EXPECT_EQ(accounts.insert_many(more).inserted_count, 3);
    EXPECT_EQ(accounts.update_one(filter("owner", "ada"), inc("balance", 5)).modified_count, 1);
    EXPECT_EQ(accounts.find_one<account>(filter("owner", "ada")), (account{"ada", 105}));
    EXPECT_EQ(accounts.find_one(filter("owner", "unknown")), std::nullopt);
    EXPECT_EQ(accounts.count_documents(gt("balance", 50)), 2);
    EXPECT_EQ(accounts.estimated_document_count(), 4);
    EXPECT_EQ(accounts.distinct("owner", lt("balance", 50)).count(), 2U);
    EXPECT_EQ(accounts.replace_one(eq("owner", "bob"), account{"bob", 25}).matched_count, 1);
    const auto changed = accounts.find_one_and_update<account>(
        filter("owner", "eve"), set("balance", 7), {.returns = return_document::after});
    EXPECT_EQ(changed, (account{"eve", 7}));

    const auto order = descending("balance");
    std::string owners;
    for (bson::view one : accounts.find(doc(), {.sort = order.view(), .batch_size = 2}))
        owners += one.find("owner").as_string();
    EXPECT_EQ(owners, "joeadabobeve");
    const auto poor = accounts.find(lt("balance", 50), {.sort = order.view()}).all<account>();
    EXPECT_EQ(poor, (std::vector<account>{{"bob", 25}, {"eve", 7}}));

    EXPECT_EQ(accounts.delete_one(filter("owner", "joe")).deleted_count, 1);
    bulk_writes work;
    work.insert_one(account{"kim", 1}).delete_many(gte("balance", 0));
    EXPECT_EQ(accounts.bulk_write(work).deleted_count, 4);
}

TEST(lab_sync_operations, insert_many_takes_documents_one_by_one)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto accounts = client["bank"]["accounts"];
    const auto done = accounts.insert_many(account{"ada", 1}, doc("_id", 7), account{"bob", 2});
    EXPECT_EQ(done.inserted_count, 3);
    EXPECT_EQ(done.inserted_ids[1].get<int>().value(), 7);
    EXPECT_EQ(accounts.find_one<account>(filter("owner", "bob")), (account{"bob", 2}));
    const auto twice = accounts.try_insert_many(doc("_id", 7), doc("_id", 8));
    ASSERT_FALSE(twice);
    EXPECT_TRUE(twice.error().summary().starts_with("insert into bank.accounts: writes[0]: E11000"))
        << twice.error().summary();
    EXPECT_NE(twice.error().context("server"), "");
    EXPECT_EQ(twice.error().context("codeName"), "DuplicateKey");
}

TEST(lab_sync_operations, unreadable_document_is_named)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto accounts = client["bank"]["accounts"];
    accounts.insert_one(doc("_id", 7, "owner", "ada"));
    const auto one = accounts.try_find_one<account>(filter("owner", "ada"));
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().message(), "balance: missing");
    const std::string text = one.error().summary();
    EXPECT_TRUE(text.starts_with("read from bank.accounts of {")) << text;
    for (const char* const part : {"\"_id\"", "7", "account: balance: missing"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    const auto next = accounts.find(filter()).try_next<account>();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().summary(), text);
}

TEST(lab_sync_operations, new_ids_are_fresh)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const bson::object_id first = client.new_id();
    EXPECT_NE(first, bson::object_id{});
    EXPECT_NE(first, client.new_id());
}

TEST(lab_sync_operations, errors_are_thrown_or_given)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto accounts = client["bank"]["accounts"];
    accounts.insert_one(doc("_id", 1));
    const auto twice = accounts.try_insert_one(doc("_id", 1));
    ASSERT_FALSE(twice);
    EXPECT_EQ(kind_of(twice.error()), error_kind::write);
    EXPECT_EQ(server_code(twice.error()), 11000);
    EXPECT_FALSE(may_have_been_applied(twice.error()));
    EXPECT_TRUE(twice.error().summary().starts_with("insert into bank.accounts: E11000"))
        << twice.error().summary();
    EXPECT_EQ(twice.error().context("codeName"), "DuplicateKey");
    ASSERT_EQ(twice.error().history().size(), 1U) << twice.error().explain();
    EXPECT_EQ(twice.error().history()[0].phase, dispatch_phase::answered);
    EXPECT_EQ(twice.error().context("server"), twice.error().history()[0].server.value());
    EXPECT_THROW(accounts.insert_one(doc("_id", 1)), failure);
    EXPECT_THROW(accounts.update_one(doc(), doc("a", 1)), failure) << "no operators";
}

TEST(lab_sync_operations, collections_and_indexes_come_and_go)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto bank = client["bank"];
    const auto made = bank.create_collection("log", {.capped = true, .size = 4096});
    EXPECT_EQ(made.name(), "log");
    EXPECT_TRUE(has(bank.list_collection_names(), "log"));
    EXPECT_TRUE(has(client.list_database_names(), "bank"));
    EXPECT_FALSE(client.list_databases().empty());
    EXPECT_EQ(kind_of(bank.try_create_collection("log", {.capped = false}).error()),
              error_kind::server);

    const auto accounts = bank["accounts"];
    EXPECT_TRUE(accounts.list_indexes().all().empty()) << "there is no such collection yet";
    const auto unique = doc("unique", true);
    EXPECT_EQ(accounts.create_index(doc("owner", 1, "born", -1), unique), "owner_1_born_-1");
    std::vector<std::string> names;
    for (bson::view one : accounts.list_indexes())
        names.emplace_back(one.find("name").as_string());
    EXPECT_EQ(names, (std::vector<std::string>{"_id_", "owner_1_born_-1"}));
    EXPECT_FALSE(accounts.try_drop_index("*"));
    accounts.drop_index("owner_1_born_-1");
    accounts.drop_indexes();
    EXPECT_EQ(accounts.list_indexes().all().size(), 1U);

    accounts.rename("customers");
    EXPECT_TRUE(has(bank.list_collection_names(), "customers"));
    bank["customers"].drop();
    bank["customers"].drop();  // what is not there has been dropped
    EXPECT_FALSE(has(bank.list_collection_names(), "customers"));
    bank.drop();
    EXPECT_TRUE(bank.list_collection_names().empty());
}

TEST(lab_sync_operations, a_cursor_that_goes_is_closed_on_the_server)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto numbers = client["bank"]["numbers"];
    std::vector<bson::document> many;
    for (int i = 0; i < 10; ++i)
        many.push_back(doc("_id", i));
    numbers.insert_many(many);

    std::int64_t id = 0;
    {
        auto found = numbers.find(doc(), {.batch_size = 2});
        EXPECT_EQ(found.next()->find("_id").as_int32(), 0);
        id = found.id();
        EXPECT_NE(id, 0);
    }
    const auto more = client["bank"].try_run_command(doc("getMore", id, "collection", "numbers"));
    ASSERT_FALSE(more);
    EXPECT_EQ(server_code(more.error()), 43) << "CursorNotFound";

    const auto find = doc("find", "numbers", "batchSize", 2);
    EXPECT_EQ(client["bank"].run_cursor_command(find, {.batch_size = 3}).all().size(), 10U);
}

TEST(lab_sync_operations, sessions_are_passed_along)
{
    auto servers = started({});
    const mongo::sync::client client{servers.uri()};
    const auto accounts = client["bank"]["accounts"];
    const session mine = client.start_session();
    accounts.insert_one(doc("_id", 1), {.session = &mine});
    EXPECT_TRUE(mine.id());
    EXPECT_TRUE(mine.operation_time());
    EXPECT_EQ(accounts.find(doc(), {.session = &mine}).all().size(), 1U);
}

}  // namespace
}  // namespace holdfast::proof::sync_operations_test
