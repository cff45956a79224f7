#include "api/mongo/process_facts.hpp"
#include "core/mongo/uri/uri.hpp"
#include "crud.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "kv.hpp"
#include "net/blocking/world.hpp"
#include "net/world.hpp"
#include "order.hpp"
#include "shell/mongo/connection/handshake.hpp"
#include "shell/mongo/connection/ping.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

/// Performs exactly N operations against any server and exits, so that what one costs is the
/// difference of two run lengths divided by the difference of their counts.
namespace holdfast::bench {
namespace {

using core::mongo::parsed_uri;
using shell::mongo::connection_ptr;

runtime::awaitable<result<connection_ptr>> connect_to(runtime::world& in, const parsed_uri& from)
{
    const auto config = shell::mongo::make_connection_config(in, from.settings,
                                                             api::describe_process({}));
    if (!config)
        co_return config.error();
    co_return co_await shell::mongo::perform_handshake(in, *config, from.settings);
}

/// One of several that share the work, each with a connection of its own.
runtime::awaitable<void> worker(runtime::world& in, const parsed_uri& from, tally& all)
{
    auto made = co_await connect_to(in, from);
    if (!made) {
        all.failure = made.error().message();
        co_return;
    }
    while (all.begin_another()) {
        const auto answered = co_await shell::mongo::ping(**made);
        if (!answered) {
            all.failure = answered.error().message();
            co_return;
        }
        ++all.done;
    }
}

/// A command through a client, with everything that operations have.
runtime::awaitable<void> command_worker(const mongo::client& with, const bson::document& command,
                                        mongo::command_options options, tally& all)
{
    while (all.begin_another()) {
        try {
            co_await with.run_command("perftest", command, options);
            ++all.done;
        } catch (const failure& failed) {
            all.failure = failed.error().explain();
        }
    }
}

struct command_to_run {
    explicit command_to_run(bool insert)
        : body{insert ? bson::doc("insert", "corpus", "documents",
                                  bson::list(bson::object("_id", 1, "text", "seal")))
                      : bson::doc("ping", 1)}
    {
        options.kind = insert ? mongo::command_kind::write : mongo::command_kind::generic;
    }
    bson::document body;
    mongo::command_options options;
};

void run_commands_blocking(const order& what, const command_to_run& command, tally& all)
{
    const mongo::sync::client with{what.uri};
    while (all.begin_another()) {
        const auto reply = with.try_run_command("perftest", command.body, command.options);
        if (reply)
            ++all.done;
        else
            all.failure = reply.error().explain();
    }
}

void run_commands(const order& what, const command_to_run& command, tally& all)
{
    boost::asio::io_context loop{1};
    const mongo::client with{loop.get_executor(), what.uri};
    std::uint32_t running = what.concurrency;
    auto ended = [&](std::exception_ptr) {
        if (--running > 0)
            return;
        all.ended = std::chrono::steady_clock::now();
        boost::asio::co_spawn(loop, disconnect(with), [](std::exception_ptr) {});
    };
    for (std::uint32_t n = 0; n < what.concurrency; ++n)
        boost::asio::co_spawn(loop, command_worker(with, command.body, command.options, all),
                              ended);
    loop.run();
}

void run_async(const parsed_uri& from, const order& what, tally& all)
{
    boost::asio::io_context loop{1};
    net::async_world world{loop.get_executor()};
    auto rethrow = [](std::exception_ptr thrown) {
        if (thrown)
            std::rethrow_exception(thrown);
    };
    for (std::uint32_t n = 0; n < what.concurrency; ++n)
        boost::asio::co_spawn(loop, worker(world, from, all), rethrow);
    loop.run();
}

/// Each operation is a call of its own, as an application makes it.
void run_sync(const parsed_uri& from, tally& all)
{
    net::blocking_world world;
    auto made = world.run(connect_to(world, from));
    if (!made) {
        all.failure = made.error().message();
        return;
    }
    while (all.begin_another()) {
        const auto answered = world.run(shell::mongo::ping(**made));
        if (answered)
            ++all.done;
        else
            all.failure = answered.error().message();
    }
}

void run_operation(const parsed_uri& from, const order& what, tally& all)
{
    if (what.operation == "ping")
        return what.sync ? run_sync(from, all) : run_async(from, what, all);
    if (const crud_operation* const known = crud_operation_of(what)) {
        const crud_work work{what};
        return what.sync ? run_crud_blocking(*known, what, work, all)
                         : run_crud(*known, what, work, all);
    }
    const command_to_run command{what.operation == "run_insert"};
    if (what.sync)
        run_commands_blocking(what, command, all);
    else
        run_commands(what, command, all);
}

int run(const order& what)
{
    tally all{what.count};
    if (is_kv(what)) {
        what.sync ? run_kv_blocking(what, all) : run_kv(what, all);
    } else {
        const auto from = core::mongo::parse_uri(what.uri);
        if (!from) {
            std::fprintf(stderr, "bench_op: %s\n", from.error().message().c_str());
            return 2;
        }
        run_operation(*from, what, all);
    }
    if (!all.failure.empty()) {
        std::fprintf(stderr, "bench_op: %s\n", all.failure.c_str());
        return 1;
    }
    if (all.ended < all.began)
        all.ended = tally::clock::now();
    std::printf("{\"op\":\"%s\",\"n\":%llu,\"wall\":%.6f,\"docs\":%llu,\"checksum\":%lld}\n",
                what.operation.c_str(), static_cast<unsigned long long>(all.done),
                std::chrono::duration<double>(all.ended - all.began).count(),
                static_cast<unsigned long long>(all.documents),
                static_cast<long long>(all.checksum));
    return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv)
{
    holdfast::bench::order what;
    CLI::App app{"Performs exactly N operations against a server and exits."};
    app.add_option("operation", what.operation,
                   "ping: on a connection of its own; run_ping, run_insert: a command through a "
                   "client; the others: an operation of a collection")
        ->required()
        ->check(CLI::IsMember({"ping", "run_ping", "run_insert", "insert_one", "insert_many",
                               "find_one", "find_many", "kv_get", "kv_upsert"}));
    app.add_option("--uri", what.uri, "Connection string")->required();
    app.add_option("--count", what.count, "Operations in all")->capture_default_str();
    app.add_option("--concurrency", what.concurrency,
                   "Operations at a time: on a connection each, key-value on one")
        ->check(CLI::Range(1U, 10'000U))
        ->capture_default_str();
    app.add_option("--document", what.document, "What is inserted: a file with its JSON")
        ->check(CLI::ExistingFile);
    app.add_option("--user", what.user, "Of key-value operations")->capture_default_str();
    app.add_option("--password", what.password, "Of key-value operations")->capture_default_str();
    app.add_option("--collections", what.collections,
                   "Of key-value operations, in turn: c0, c1, ... of the default scope")
        ->capture_default_str();
    app.add_flag("--sync", what.sync, "Blocking calls, one connection");
    CLI11_PARSE(app, argc, argv);
    return holdfast::bench::run(what);
}
