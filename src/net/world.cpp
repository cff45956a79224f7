#include "net/world.hpp"

#include "net/address.hpp"
#include "net/alarm_timer.hpp"
#include "net/connect.hpp"
#include "net/context_registry.hpp"
#include "net/entropy.hpp"
#include "net/failures.hpp"
#include "net/socket_listener.hpp"
#include "net/tls/tls.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/errc.hpp>

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::net {

using runtime::awaitable;
using runtime::destination;
using runtime::stream_ptr;

namespace {

/// An executor may keep parts of its context alive, or be a strand, which belongs to one.
class context_bound_executor final : private context_bound {
public:
    context_bound_executor(runtime::executor on, std::shared_ptr<context_registry> at)
        : context_bound{std::move(at)}, on_{std::move(on)}
    {
        register_self();
    }
    ~context_bound_executor() { unregister(); }

    const runtime::executor& get() const noexcept { return on_; }

private:
    void context_gone() noexcept override { on_ = {}; }

    runtime::executor on_;
};

/// Those of a path or of an address; none if it is a name.
std::optional<std::vector<stream_endpoint>> known_endpoints(const destination& where)
{
    std::vector<stream_endpoint> one;
    error_code no_address;
    const auto literal = asio::ip::make_address(where.host, no_address);
    if (!no_address)
        one.push_back(tcp_endpoint(literal, where.port));
    else if (!where.is_path())
        return std::nullopt;
    else if (const auto path = unix_endpoint(where.host))
        one.push_back(*path);
    return one;
}

error leads_nowhere(const destination& where)
{
    if (where.is_path())
        return all_failed(where, {}, make_error_code(boost::system::errc::filename_too_long));
    return not_resolved(
        where, {make_error_code(runtime::errc::name_lookup_failed), "the answer holds no address"});
}

}  // namespace

struct async_world::parts {
    parts(const runtime::executor& on, world_settings with)
        : settings{std::move(with)},
          anchors{context_registry::of(on)},
          executor{on, anchors},
          clock{std::make_shared<alarm_timer>(on, anchors)}
    {
    }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    ~parts()
    {
        names.reset();
        clock->stop();
    }

    /// Made when the first name is looked up: an application that has none reads no file.
    resolver& resolver_of(async_world& self)
    {
        std::call_once(names_made, [&] { names = make_async_resolver(self, settings.dns); });
        return *names;
    }

    const world_settings settings;
    const std::shared_ptr<context_registry> anchors;
    const context_bound_executor executor;
    const std::shared_ptr<alarm_timer> clock;
    entropy chance;
    std::once_flag names_made;
    std::unique_ptr<resolver> names;
};

async_world::async_world(runtime::executor on, world_settings settings)
    : parts_{std::make_unique<parts>(on, std::move(settings))}
{
}

async_world::~async_world() = default;

runtime::executor async_world::executor()
{
    return parts_->executor.get();
}

time_point async_world::steady_now() const noexcept
{
    return std::chrono::steady_clock::now();
}

runtime::wall_time async_world::wall_now() const noexcept
{
    return std::chrono::system_clock::now();
}

void async_world::random(std::span<std::uint8_t> into)
{
    parts_->chance.draw(into);
}

runtime::alarm_clock& async_world::alarms() noexcept
{
    return *parts_->clock;
}

std::shared_ptr<runtime::alarm_clock> async_world::shared_alarms() noexcept
{
    return parts_->clock;
}

awaitable<result<stream_ptr>> async_world::connect(destination where, time_point until)
{
    auto endpoints = known_endpoints(where);
    if (!endpoints) {
        const auto found = co_await resolve(where.host, until);
        if (!found)
            co_return not_resolved(where, found.error());
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none)
            co_return was_cancelled(where);
        endpoints.emplace();
        for (const address& one : take_turns(parse_addresses(*found)))
            endpoints->push_back(tcp_endpoint(one, where.port));
    }
    if (endpoints->empty())
        co_return leads_nowhere(where);
    connector with{*this, parts_->anchors, parts_->settings.head_start};
    co_return co_await connect_to_any(std::move(with), std::move(where), *std::move(endpoints),
                                      until);
}

result<runtime::listener_ptr> async_world::listen(destination where)
{
    return listen_at(*this, parts_->anchors, where);
}

awaitable<result<std::vector<std::string>>> async_world::resolve(std::string host, time_point until)
{
    return parts_->resolver_of(*this).addresses(std::move(host), until);
}

awaitable<result<std::vector<runtime::srv_record>>> async_world::resolve_srv(std::string name,
                                                                             time_point until)
{
    return parts_->resolver_of(*this).srv(std::move(name), until);
}

awaitable<result<std::vector<std::string>>> async_world::resolve_txt(std::string name,
                                                                     time_point until)
{
    return parts_->resolver_of(*this).txt(std::move(name), until);
}

result<runtime::tls_ptr> async_world::tls(const runtime::tls_options& options)
{
    return make_tls(options);
}

}  // namespace holdfast::net
