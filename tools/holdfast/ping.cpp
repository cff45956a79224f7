#include "ping.hpp"

#include "api/mongo/process_facts.hpp"
#include "core/mongo/uri/uri.hpp"
#include "net/blocking/world.hpp"
#include "net/world.hpp"
#include "ping_couchbase.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/connection/handshake.hpp"
#include "shell/mongo/connection/ping.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace holdfast::tool {
namespace {

double ms(duration time)
{
    return std::chrono::duration<double, std::milli>(time).count();
}

runtime::awaitable<result<void>> ping_all(runtime::world& in, core::mongo::parsed_uri from,
                                          ping_options options)
{
    auto parsed = co_await shell::mongo::look_up_seeds(in, std::move(from));
    if (!parsed)
        co_return std::move(parsed).error();
    const core::mongo::client_settings& settings = parsed->settings;
    const auto config = shell::mongo::make_connection_config(
        in, settings, api::describe_process(settings.app_name));
    if (!config)
        co_return config.error();

    const time_point began = in.steady_now();
    auto made = co_await shell::mongo::perform_handshake(in, *config, settings);
    if (!made)
        co_return std::move(made).error();
    const shell::mongo::connection_ptr connection = *std::move(made);
    std::printf("connected to %s in %.3f ms (wire version %d)\n",
                connection->server().value().c_str(), ms(in.steady_now() - began),
                connection->description().max_wire_version);

    for (std::uint32_t n = 1; n <= options.count; ++n) {
        const time_point sent = in.steady_now();
        if (settings.timeout && settings.timeout->count() > 0)
            connection->expires_at(sent + *settings.timeout);
        auto answered = co_await shell::mongo::ping(*connection);
        if (!answered)
            co_return answered;
        std::printf("ping %u: %.3f ms\n", n, ms(in.steady_now() - sent));
        std::fflush(stdout);
        if (n < options.count && options.interval_ms > 0)
            co_await runtime::sleep_until(in, in.steady_now() +
                                                  std::chrono::milliseconds{options.interval_ms});
    }
    co_return result<void>{};
}

/// The same coroutine, on this thread with blocking sockets or on an event loop.
result<void> run_in_a_world(core::mongo::parsed_uri from, const ping_options& options)
{
    if (options.sync) {
        net::blocking_world world;
        return world.run(ping_all(world, std::move(from), options));
    }
    boost::asio::io_context loop{1};
    net::async_world world{loop.get_executor()};
    result<void> outcome;
    auto keep = [&outcome](std::exception_ptr thrown, result<void> ended) {
        if (thrown)
            std::rethrow_exception(thrown);
        outcome = std::move(ended);
    };
    boost::asio::co_spawn(loop, ping_all(world, std::move(from), options), keep);
    loop.run();
    return outcome;
}

int refuse(const char* why)
{
    std::fprintf(stderr, "holdfast ping: %s\n", why);
    return 2;
}

}  // namespace

void add_options(CLI::App& command, ping_options& options)
{
    command
        .add_option("uri", options.uri,
                    "Connection string: mongodb://host:port/?option=value, mongodb+srv://..., or "
                    "couchbase://host/bucket")
        ->required();
    command.add_option("-n,--count", options.count, "How many round trips")
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    command.add_option("--interval", options.interval_ms, "Milliseconds between them")
        ->capture_default_str();
    command.add_option("--user", options.user, "The user of a Couchbase cluster");
    command.add_option("--password", options.password,
                       "Its password; better in the environment, as HOLDFAST_PASSWORD");
    command.add_flag("--sync", options.sync, "With blocking sockets instead of an event loop");
}

int run(const ping_options& options)
{
    if (is_couchbase(options.uri))
        return run_couchbase(options);
    if (!options.uri.starts_with("mongodb://") && !options.uri.starts_with("mongodb+srv://"))
        return refuse(
            "a connection string begins with mongodb://, mongodb+srv://, couchbase:// or "
            "couchbases://");
    if (!options.user.empty() || !options.password.empty())
        return refuse("--user and --password are for Couchbase; a MongoDB URI has its own");
    auto parsed = core::mongo::parse_uri(options.uri);
    if (!parsed) {
        std::fprintf(stderr, "holdfast ping: %s\n", parsed.error().message().c_str());
        return 2;
    }
    for (const std::string& warning : parsed->warnings)
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    const result<void> done = run_in_a_world(*std::move(parsed), options);
    if (done)
        return 0;
    std::fprintf(stderr, "holdfast ping: %s\n", done.error().message().c_str());
    return 1;
}

}  // namespace holdfast::tool
