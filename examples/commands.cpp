// Commands through an asynchronous client: with coroutines, with a callback and a time limit, in a
// session, with a log; against an embedded server.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/log.hpp>
#include <holdfast/mongo/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace bson = holdfast::bson;

namespace {

/// Counts what the driver retries, by command events.
class retry_counter : public hf::mongo::event_listener {
public:
    void on(const hf::mongo::events::command_failed& event) noexcept override
    {
        std::clog << event.of.command_name << " failed: " << event.failure.message() << '\n';
    }
};

asio::awaitable<void> work(hf::mongo::client db, int& failures)
{
    const bson::document hello = bson::doc("hello", 1);
    const bson::document reply = co_await db.run_command("admin", hello);
    failures += !reply["isWritablePrimary"].as_bool();

    const bson::document stats = bson::doc("dbStats", 1);
    const bson::document size = co_await db["sea"].run_command(stats);
    failures += size["db"].as_string() != "sea";
    auto names = db["sea"].run_cursor_command(bson::doc("listCollections", 1, "nameOnly", true));
    const auto first = co_await names.next();
    failures += first.has_value();  // there are none yet

    const hf::mongo::session session = db.start_session();
    hf::mongo::command_options in_session;
    in_session.session = &session;
    const bson::document ping = bson::doc("ping", 1);
    co_await db.run_command("admin", ping, in_session);
    failures += !session.operation_time();

    try {
        const bson::document wrong = bson::doc("insertt", "coll");
        co_await db.run_command("sea", wrong);
        ++failures;
    } catch (const hf::failure& failed) {
        failures += failed.error().code().value() != 59;  // CommandNotFound
        std::cout << failed.error().explain() << '\n';
    }
    co_await db.close();
}

}  // namespace

int main()
{
    auto server = hf::lab::mongo_cluster::start({.members = 1});
    if (!server) {
        std::cerr << server.error().explain() << '\n';
        return 1;
    }
    asio::io_context loop;
    hf::mongo::client_options options;
    options.listeners.push_back(std::make_shared<retry_counter>());
    options.log = hf::console_log(hf::severity::warning);
    const hf::mongo::client db{loop.get_executor(), server->uri(), options};

    int failures = 0;
    hf::mongo::command_options soon;
    soon.timeout = std::chrono::seconds{5};
    db.run_command("admin", bson::doc("ping", 1), soon, [&](hf::result<bson::document> reply) {
        failures += !reply;
        asio::co_spawn(loop, work(db, failures), asio::detached);
    });
    loop.run();
    std::cout << (failures == 0 ? "ok\n" : "broken\n");
    return failures;
}
