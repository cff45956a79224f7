// A tour of the Couchbase client: a cluster on the application's own loop, documents as structs and
// as JSON, options of single operations, and errors that say what was tried.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/lab/couchbase.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

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

asio::awaitable<void> documents(cb::collection airlines)
{
    // Name a struct with strings before the co_await that uses it: g++ 12.2 needs that.
    const airline klm{"KLM", "NL", 110};
    const auto stored = co_await airlines.upsert("airline_1", klm, {.timeout = 5s});
    std::cout << "stored as version " << (stored.cas ? "known" : "unknown") << '\n';

    const auto found = co_await airlines.get<airline>("airline_1");
    std::cout << found.content.name << " has " << found.content.fleet << " planes\n";

    const auto text = co_await airlines.get("airline_1");
    std::cout << text.content.text() << '\n';
}

asio::awaitable<void> absence(cb::collection airlines)
{
    const auto none = co_await airlines.get("airline_2", {}, asio::use_awaitable);
    if (!none && none.error().code() == cb::errc::document_not_found)
        std::cout << none.error().explain() << '\n';
}

/// The default strategy fails at once on what will not mend itself.
asio::awaitable<void> mistakes(cb::cluster db)
{
    try {
        co_await db["travel"].collection("no_such_collection").get("x");
    } catch (const hf::failure& failed) {
        std::cout << failed.error().summary() << '\n';
    }
}

asio::awaitable<void> tour(cb::cluster db)
{
    co_await db["travel"].ready({.timeout = 5s});
    const auto airlines = db["travel"]["inventory"]["airline"];
    co_await documents(airlines);
    co_await absence(airlines);
    co_await mistakes(db);
    const auto answers = co_await db.ping();
    std::cout << answers.key_value.size() << " connections answer\n";
    co_await db.close();
}

}  // namespace

int main()
{
    auto lab = hf::lab::couchbase_cluster::start({.nodes = 3, .buckets = {"travel"}}).value();
    lab.create_scope("travel", "inventory").value();
    lab.create_collection("travel", "inventory", "airline").value();

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
    return status;
}
