#include "shell/couchbase/dispatch/exclusive_pool.hpp"

#include <variant>

namespace holdfast::shell::couchbase {

namespace {

/// As many threads can have an operation under way at one node; others wait in line.
constexpr std::uint32_t most_connections = 16;

core::pool_settings limits()
{
    core::pool_settings made;
    made.max_size = most_connections;
    return made;
}

}  // namespace

std::shared_ptr<exclusive_pool> exclusive_pool::make(
    runtime::world& in, std::shared_ptr<const connection_config> config, endpoint server,
    std::string bucket)
{
    return std::shared_ptr<exclusive_pool>{
        new exclusive_pool{in, std::move(config), std::move(server), std::move(bucket)}};
}

exclusive_pool::exclusive_pool(runtime::world& in, std::shared_ptr<const connection_config> config,
                               endpoint server, std::string bucket)
    : pool{in, limits(), false},
      config_{std::move(config)},
      server_{std::move(server)},
      bucket_{std::move(bucket)}
{
}

runtime::awaitable<result<exclusive_pool::lease>> exclusive_pool::check_out(time_point until)
{
    auto got = co_await wait_for_connection(until);
    if (!got)
        co_return std::move(got).error();
    co_return (*std::move(got)).as<exclusive_connection>();
}

runtime::awaitable<result<exclusive_pool::opened_connection>> exclusive_pool::open(std::uint32_t)
{
    connect_target to;
    to.server = server_;
    to.bucket = bucket_;
    to.exclusive = true;
    auto outcome = co_await establish(world(), config_, std::move(to));
    if (auto* const failed = std::get_if<establish_failure>(&outcome))
        co_return std::move(failed->why);
    opened_connection ready;
    ready.connection = std::make_unique<exclusive_connection>(
        std::move(std::get<established>(outcome).connection));
    co_return ready;
}

void exclusive_pool::give_back(pooled_ptr what, time_point now) noexcept
{
    const bool broken = static_cast<exclusive_connection&>(*what).inner()->is_closed();
    check_in(std::move(what), broken, now);
}

}  // namespace holdfast::shell::couchbase
