// Every snippet of docs/collections.md, errors.md and monitoring.md, run and checked: the program
// fails if a page is wrong.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/log.hpp>
#include <holdfast/mongo/client.hpp>
#include <holdfast/mongo/error.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/update.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <source_location>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;
using namespace holdfast::mongo;  // filter, eq, set, inc ...
using namespace std::chrono_literals;

struct account {
    std::string owner;
    double balance = 0;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

namespace {

int lies = 0;

void check(bool holds, std::source_location at = std::source_location::current())
{
    if (holds)
        return;
    std::cerr << "line " << at.line() << ": not as documented\n";
    ++lies;
}

asio::awaitable<void> writing(mongo::collection accounts)
{
    const auto done = co_await accounts.insert_one(bson::doc("owner", "ada", "balance", 100.0));
    const auto id = done.inserted_id.get<bson::object_id>().value();  // made by the client

    const account bob{"bob", 20}, cy{"cy", 300};
    co_await accounts.insert_many(bob, cy);
    const std::vector<account> more{{"dan", 7}};
    const auto all = co_await accounts.insert_many(more);  // or any range of documents
    check(all.inserted_count == 1);

    co_await accounts.update_one(filter("_id", id), inc("balance", 5.0));
    co_await accounts.update_one(filter("owner", "eve"), set("balance", 1.0), {.upsert = true});
    const auto poor = co_await accounts.update_many(lt("balance", 50), set("poor", true));
    check(poor.matched_count == 3 && poor.modified_count == 3);

    const account dan{"dan", 70};
    co_await accounts.replace_one(filter("owner", "dan"), dan);
    const auto gone = co_await accounts.delete_one(json(R"({"owner": "eve"})"));
    check(gone.deleted_count == 1);

    const find_and_modify_options after{.returns = return_document::after};
    const auto now = co_await accounts.find_one_and_update<account>(filter("owner", "bob"),
                                                                    inc("balance", 1.0), after);
    check(now->balance == 21);
}

asio::awaitable<void> reading(mongo::collection accounts)
{
    const auto ada = co_await accounts.find_one<account>(filter("owner", "ada"));
    check(ada && ada->balance == 105);

    const bson::document rich_first = sort_by(descending("balance"), ascending("owner"));
    auto found = accounts.find(all_of(gt("balance", 50), exists("owner")),
                               {.sort = rich_first, .limit = 10, .batch_size = 2});
    std::vector<std::string> owners;
    for (auto one = co_await found.next<account>(); one; one = co_await found.next<account>())
        owners.push_back(one->owner);
    check(owners == std::vector<std::string>{"cy", "ada", "dan"});

    double sum = 0;
    auto every = accounts.find(filter());
    for (bool more = co_await every.next_batch(); more; more = co_await every.next_batch())
        for (const bson::view one : every.batch())
            sum += one.get<double>("balance").value();
    check(sum == 496);

    const auto list = co_await accounts.find(filter()).all<account>();
    check(list.size() == 4);

    const bson::array total = bson::arr(bson::object(
        "$group", bson::object("_id", bson::null{}, "sum", bson::object("$sum", "$balance"))));
    auto groups = accounts.aggregate(total);
    const auto group = co_await groups.next();
    check(group->get<double>("sum").value() == 496);

    const auto rich = co_await accounts.count_documents(gte("balance", 100));
    const auto about = co_await accounts.estimated_document_count();
    const bson::array names = co_await accounts.distinct("owner", filter());
    check(rich == 2 && about == 4 && names.count() == 4);
}

asio::awaitable<void> bulk(mongo::client db, mongo::collection accounts)
{
    const account eve{"eve", 9};
    mongo::bulk_writes work;
    work.insert_one(eve)
        .update_one(filter("owner", "ada"), inc("balance", -5.0))
        .update_many(lt("balance", 10), set("poor", true))
        .delete_one(filter("owner", "dan"));
    const auto done = co_await accounts.bulk_write(work);
    check(done.inserted_count == 1 && done.matched_count == 2 && done.deleted_count == 1);

    mongo::client_bulk_writes everywhere;  // servers from 8.0 on
    everywhere.insert_one("bank.log", bson::doc("did", "spring cleaning"))
        .update_one("bank.accounts", filter("owner", "eve"), set("poor", false));
    const auto both = co_await db.bulk_write(everywhere, {.verbose_results = true});
    check(both.inserted_count == 1 && both.update_results.at(1).modified_count == 1);
}

asio::awaitable<void> wholes(mongo::client db, mongo::collection accounts)
{
    const bson::document by_owner = ascending("owner");
    const std::string name = co_await accounts.create_index(by_owner, bson::doc("unique", true));
    check(name == "owner_1");

    const bson::document rich_first = descending("balance");
    const bson::document unique = bson::doc("unique", true);
    const std::vector<index_model> two{{.keys = rich_first, .name = "rich"},
                                       {.keys = by_owner, .options = unique}};
    co_await accounts.drop_index("owner_1");
    co_await accounts.create_indexes(two);
    const auto indexes = co_await accounts.list_indexes().all();
    check(indexes.size() == 3);  // with that of _id

    const auto bank = db["bank"];
    const auto events = co_await bank.create_collection("events", {.capped = true, .size = 4096});
    const auto there = co_await bank.list_collection_names();
    check(there.size() == 3);
    co_await events.drop();
}

asio::awaitable<void> sessions(mongo::client db, mongo::collection accounts)
{
    const mongo::session mine = db.start_session();
    const find_options from_a_secondary{
        .session = &mine, .read_preference = read_preference{.mode = read_mode::secondary}};
    co_await accounts.update_one(filter("owner", "ada"), set("seen", true), {.session = &mine});
    const auto ada = co_await accounts.find_one(filter("owner", "ada"), from_a_secondary);
    check(ada->get<bool>("seen").value());  // its own write, whichever secondary answers

    const mongo::session still = db.start_session({.snapshot = true});
    const auto before = co_await accounts.count_documents(filter(), {.session = &still});
    co_await accounts.insert_one(bson::doc("owner", "fay", "balance", 3.0));
    const auto after = co_await accounts.count_documents(filter(), {.session = &still});
    check(before == after);
}

asio::awaitable<void> concerns(mongo::client db)
{
    const auto safe = db["bank"]["accounts"].with(
        {.write_concern = majority, .read_concern = read_concern{"majority"}, .timeout = 5s});
    co_await safe.insert_one(bson::doc("owner", "gus", "balance", 1.0));
    const auto done = co_await safe.insert_one(bson::doc("owner", "hal"),
                                               {.write_concern = unacknowledged});
    check(!done.acknowledged);
}

asio::awaitable<void> failing(mongo::collection accounts)
{
    try {
        co_await accounts.insert_one(bson::doc("owner", "ada"));
        check(false);
    } catch (const hf::failure& failed) {
        check(kind_of(failed.error()) == error_kind::write);
        check(server_code(failed.error()) == 11000);  // there is such an account already
        check(!may_have_been_applied(failed.error()));
    }

    const auto outcome = co_await accounts.insert_one(bson::doc("owner", "ada"), {},
                                                      asio::use_awaitable);
    if (!outcome)
        std::cout << outcome.error().explain() << '\n';

    mongo::bulk_writes work;
    work.insert_one(bson::doc("owner", "ida")).insert_one(bson::doc("owner", "ada"));
    const auto some = co_await accounts.bulk_write(work, {.ordered = false}, asio::use_awaitable);
    const write_failure* const why = write_failure_of(some.error());
    check(why->partial_result->inserted_count == 1);
    check(why->write_errors.at(0).index == 1);
}

/// Two refusals in a row: one is retried, the second one is reported.
asio::awaitable<void> explaining(mongo::client db)
{
    const bson::document broken = json(R"({
        "configureFailPoint": "failCommand", "mode": {"times": 2},
        "data": {"failCommands": ["insert"], "errorCode": 91,
                 "errorLabels": ["RetryableWriteError"]}})");
    co_await db["admin"].run_command(broken);
    const auto outcome = co_await db["bank"]["log"].insert_one(bson::doc("did", "nothing"), {},
                                                               asio::use_awaitable);
    check(!outcome && outcome.error().history().size() == 2);
    if (!outcome)
        std::cout << outcome.error().explain() << '\n';
}

asio::awaitable<void> tour(mongo::client db)
{
    const auto accounts = db["bank"]["accounts"];
    co_await writing(accounts);
    co_await reading(accounts);
    co_await bulk(db, accounts);
    co_await wholes(db, accounts);
    co_await sessions(db, accounts);
    co_await concerns(db);
    co_await failing(accounts);
    co_await explaining(db);
    co_await db.close();
}

}  // namespace

int main()
try {
    const auto set = hf::lab::mongo_cluster::start().value();
    asio::io_context loop;
    mongo::client_options options;
    options.log = hf::console_log(hf::severity::warning);
    const mongo::client db{loop.get_executor(), set.uri(), options};
    asio::co_spawn(loop, tour(db), [](std::exception_ptr failed) {
        if (failed)
            std::rethrow_exception(failed);
    });
    loop.run();
    std::cout << (lies == 0 ? "all as documented\n" : "");
    return lies;
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
