#include "ping_couchbase.hpp"

#include "holdfast/couchbase/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

namespace holdfast::tool {

namespace {

namespace asio = boost::asio;

double in_ms(duration time)
{
    return std::chrono::duration<double, std::milli>(time).count();
}

/// False if a node did not answer.
bool print(std::uint32_t number, const couchbase::ping_report& report)
{
    for (const couchbase::endpoint_ping& one : report.key_value) {
        const std::string bucket = one.bucket.empty() ? "" : " (bucket " + one.bucket + ")";
        if (one.latency)
            std::printf("ping %u: %s%s: %.3f ms\n", number, one.server.value().c_str(),
                        bucket.c_str(), in_ms(*one.latency));
        else
            std::printf("ping %u: %s%s: %s\n", number, one.server.value().c_str(), bucket.c_str(),
                        one.error.c_str());
    }
    std::fflush(stdout);
    return report.all_answered();
}

asio::awaitable<void> ping_nodes(couchbase::cluster db, ping_options options, int* status)
{
    asio::steady_timer pause{co_await asio::this_coro::executor};
    std::string problem;
    try {
        const auto began = std::chrono::steady_clock::now();
        co_await db.ready();
        std::printf("ready in %.3f ms\n", in_ms(std::chrono::steady_clock::now() - began));
        for (std::uint32_t n = 1; n <= options.count; ++n) {
            const auto report = co_await db.ping();
            if (!print(n, report))
                *status = 1;
            if (n == options.count || options.interval_ms == 0)
                continue;
            pause.expires_after(std::chrono::milliseconds{options.interval_ms});
            co_await pause.async_wait(asio::use_awaitable);
        }
    } catch (const std::exception& failed) {
        problem = failed.what();
    }
    if (!problem.empty()) {
        std::fprintf(stderr, "holdfast ping: %s\n", problem.c_str());
        *status = 1;
    }
    co_await db.close();
}

std::string password_of(const ping_options& options)
{
    if (!options.password.empty())
        return options.password;
    const char* const set = std::getenv("HOLDFAST_PASSWORD");
    return set ? set : "";
}

}  // namespace

bool is_couchbase(const std::string& uri)
{
    return uri.starts_with("couchbase://") || uri.starts_with("couchbases://");
}

int run_couchbase(const ping_options& options)
{
    if (options.user.empty()) {
        std::fprintf(stderr,
                     "holdfast ping: a Couchbase cluster needs a login: --user, and "
                     "HOLDFAST_PASSWORD or --password\n");
        return 2;
    }
    couchbase::password login;
    login.user = options.user;
    login.text = secret{password_of(options)};
    couchbase::cluster_options with;
    with.authenticator = std::move(login);
    asio::io_context loop{1};
    auto made = couchbase::cluster::create(loop.get_executor(), options.uri, std::move(with));
    if (!made) {
        std::fprintf(stderr, "holdfast ping: %s\n", made.error().message().c_str());
        return 2;
    }
    int status = 0;
    asio::co_spawn(loop, ping_nodes(*std::move(made), options, &status), [](std::exception_ptr) {});
    loop.run();
    return status;
}

}  // namespace holdfast::tool
