#include "net/blocking/world.hpp"

#include "net/address.hpp"
#include "net/blocking/connect.hpp"
#include "net/blocking/listener.hpp"
#include "net/blocking/runner.hpp"
#include "net/entropy.hpp"
#include "net/failures.hpp"
#include "net/tls/tls.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/errc.hpp>

#include <chrono>

namespace holdfast::net {

namespace errc = boost::system::errc;

struct blocking_world::parts {
    explicit parts(world_settings from) : settings{std::move(from)} {}

    /// Made when it is first asked: a world that only meets addresses needs none.
    resolver& names(runtime::world& in)
    {
        if (!resolver_)
            resolver_ = make_blocking_resolver(in, settings.dns);
        return *resolver_;
    }

    world_settings settings;
    blocking_runner runner;
    wake_up end;
    entropy chance;

private:
    std::unique_ptr<resolver> resolver_;
};

blocking_world::blocking_world(world_settings settings)
    : parts_{std::make_unique<parts>(std::move(settings))}
{
}

blocking_world::~blocking_world()
{
    parts_->runner.stop();  // coroutines that still wait may refer to the world until they are gone
}

void blocking_world::run_job(blocking_job& what)
{
    parts_->runner.run(what);
}

void blocking_world::cancel() noexcept
{
    parts_->end.wake();
}

runtime::executor blocking_world::executor()
{
    return parts_->runner.executor();
}

time_point blocking_world::steady_now() const noexcept
{
    return std::chrono::steady_clock::now();
}

runtime::wall_time blocking_world::wall_now() const noexcept
{
    return std::chrono::system_clock::now();
}

void blocking_world::random(std::span<std::uint8_t> into)
{
    parts_->chance.draw(into);
}

runtime::alarm_clock& blocking_world::alarms() noexcept
{
    return parts_->runner;
}

runtime::awaitable<result<runtime::stream_ptr>> blocking_world::connect(runtime::destination where,
                                                                        time_point until)
{
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return was_cancelled(where);
    std::vector<stream_endpoint> endpoints;
    error_code invalid;
    if (where.is_path()) {
        const auto path = unix_endpoint(where.host);
        if (!path)
            co_return all_failed(where, {}, make_error_code(errc::filename_too_long));
        endpoints.push_back(*path);
    } else if (const auto host = asio::ip::make_address(where.host, invalid); !invalid) {
        endpoints.push_back(tcp_endpoint(host, where.port));
    } else {
        const auto found = co_await parts_->names(*this).addresses(where.host, until);
        if (!found)
            co_return not_resolved(where, found.error());
        for (const address& one : take_turns(parse_addresses(*found)))
            endpoints.push_back(tcp_endpoint(one, where.port));
    }
    if (endpoints.empty()) {
        const error nonsense{make_error_code(runtime::errc::name_lookup_failed),
                             "the answer holds no address"};
        co_return not_resolved(where, nonsense);
    }
    co_return connect_blocking(where, endpoints, parts_->settings.head_start, until, parts_->end);
}

result<runtime::listener_ptr> blocking_world::listen(runtime::destination where)
{
    return make_blocking_listener(where);
}

runtime::awaitable<result<std::vector<std::string>>> blocking_world::resolve(std::string host,
                                                                             time_point until)
{
    return parts_->names(*this).addresses(std::move(host), until);
}

runtime::awaitable<result<std::vector<runtime::srv_record>>> blocking_world::resolve_srv(
    std::string name, time_point until)
{
    return parts_->names(*this).srv(std::move(name), until);
}

runtime::awaitable<result<std::vector<std::string>>> blocking_world::resolve_txt(std::string name,
                                                                                 time_point until)
{
    return parts_->names(*this).txt(std::move(name), until);
}

result<runtime::tls_ptr> blocking_world::tls(const runtime::tls_options& options)
{
    return make_tls(options);
}

}  // namespace holdfast::net
