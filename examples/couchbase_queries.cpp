// Queries, analytics, search and views: rows that are read as they come, prepared statements,
// parameters, consistency with what was just written, and giving up in the middle.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/couchbase/sync/cluster.hpp>
#include <holdfast/lab/couchbase.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

namespace {

struct airline {
    std::string name;
    std::string country;
    int fleet = 0;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, country, fleet))

asio::awaitable<void> first_query(cb::cluster db, cb::collection airlines)
{
    const airline klm{"KLM", "NL", 110};
    const auto stored = co_await airlines.upsert("klm", klm);

    // Nothing is sent before the first row is asked for.
    cb::mutation_state seen;
    seen.add(stored);
    auto found = db.query(
        "SELECT a.* FROM travel AS a WHERE a.country = $1 AND a.fleet > $2",
        {.parameters = cb::positional("NL", 50), .readonly = true, .consistent_with = &seen});
    for (;;) {
        const auto one = co_await found.next<airline>();
        if (!one)
            break;
        std::cout << one->name << " has " << one->fleet << " planes\n";
    }
    std::cout << found.metadata().metrics.result_count << " rows\n";
}

asio::awaitable<void> prepared_and_scoped(cb::cluster db)
{
    // The plan is made once, and kept for all queries with this text.
    const std::string_view by_country =
        "SELECT RAW a.name FROM travel AS a "
        "WHERE a.country = $country ORDER BY a.name";
    for (const std::string_view country : {"NL", "FR"}) {
        auto names = db.query(by_country, {.parameters = cb::named("country", country),
                                           .prepared = true,
                                           .scan_consistency = cb::scan_consistency::request_plus});
        const auto all = co_await names.all<std::string>();
        std::cout << country << ": " << all.size() << '\n';
    }

    // In a scope, collections have no more than their names.
    auto airports = db["travel"]["inventory"].query("SELECT RAW COUNT(*) FROM airport",
                                                    {.timeout = 10s, .readonly = true});
    std::cout << *co_await airports.next<int>() << " airports\n";
}

asio::awaitable<void> many_rows(cb::cluster db)
{
    // With the least cost: rows as texts, as many at a time as have come.
    std::size_t bytes = 0;
    auto rows = db.query("SELECT * FROM travel", {.readonly = true});
    for (bool more = co_await rows.next_batch(); more; more = co_await rows.next_batch()) {
        for (const std::string_view one : rows.batch())
            bytes += one.size();
    }
    std::cout << (bytes != 0 ? "some" : "no") << " bytes of rows\n";

    // What is not read is given up: the connection is closed, and the server stops.
    auto few = db.query("SELECT * FROM travel");
    co_await few.next();
    few.close();

    // A statement without rows.
    auto change = db.query("UPDATE travel SET fleet = fleet + 1 WHERE country = \"NL\"");
    const cb::query_metadata done = co_await change.run();
    std::cout << done.metrics.mutation_count << " changed\n";
}

asio::awaitable<void> when_it_fails(cb::cluster db)
{
    auto rows = db.query("SELEC 1");
    const auto none = co_await rows.next(asio::use_awaitable);
    if (!none && none.error().code() == cb::errc::parsing_failure)
        std::cout << none.error().explain() << '\n';
}

asio::awaitable<void> other_services(cb::cluster db)
{
    auto counted = db.analytics("SELECT RAW COUNT(*) FROM travel", {.readonly = true});
    std::cout << *co_await counted.next<int>() << " documents\n";

    // Requests for which there is no function are made as they are.
    co_await db.http(cb::service_type::search, cb::http_method::put, "/api/index/airlines",
                     {.content_type = "application/json",
                      .body = R"({"name": "airlines", "type": "fulltext-index",
                                  "sourceType": "gocbcore", "sourceName": "travel"})"});
    auto hits = db.search("airlines", R"({"query": {"match": "KLM", "field": "name"}})",
                          {.limit = 10});
    for (;;) {
        const auto hit = co_await hits.next();
        if (!hit)
            break;
        std::cout << hit->id << " is found\n";
    }
    std::cout << hits.metadata().total_hits << " hits\n";

    co_await db.http(cb::service_type::views, cb::http_method::put, "/travel/_design/airlines",
                     {.content_type = "application/json", .body = R"({"views": {"by_name": {
                                  "map": "function (doc, meta) { emit(doc.name, null); }"}}})"});
    auto by_name = db["travel"].view_query("airlines", "by_name", {.limit = 10});
    for (;;) {
        const auto row = co_await by_name.next();
        if (!row)
            break;
        std::cout << row->key.text() << '\n';
    }
}

asio::awaitable<void> tour(cb::cluster db)
{
    const auto airlines = db["travel"].default_collection();
    co_await first_query(db, airlines);
    co_await prepared_and_scoped(db);
    co_await many_rows(db);
    co_await when_it_fails(db);
    co_await other_services(db);
    co_await db.close();
}

int blocking(const std::string& uri, const cb::cluster_options& options)
{
    const cb::sync::cluster db{uri, options};
    int fleet = 0;
    for (const airline& one : db.query("SELECT a.* FROM travel AS a").as<airline>())
        fleet += one.fleet;
    return fleet;
}

}  // namespace

int main()
{
    auto lab = hf::lab::couchbase_cluster::start({.nodes = 2, .buckets = {"travel"}}).value();
    lab.create_scope("travel", "inventory").value();
    lab.create_collection("travel", "inventory", "airport").value();

    asio::io_context loop;
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", "password"};
    const cb::cluster db{loop.get_executor(), lab.uri(), options};
    int status = 0;
    asio::co_spawn(loop, tour(db), [&](std::exception_ptr thrown) {
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (const std::exception& failed) {
            std::cout << failed.what() << '\n';
            status = 1;
        }
    });
    loop.run();
    if (status == 0)
        std::cout << blocking(lab.uri(), options) << " planes in all\n";
    return status;
}
