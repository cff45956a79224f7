#include "sim/incarnation.hpp"

#include "sim/machine.hpp"
#include "sim/stream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace holdfast::sim {
namespace {

namespace asio = boost::asio;
using runtime::awaitable;
using runtime::errc;

constexpr std::chrono::seconds wall_start{1'767'225'600};  // 2026-01-01 00:00 UTC

error look_up_error(errc code, const std::string& name, std::string cause)
{
    return error{code, "cannot look up " + name + ": " + cause}
        .with_context("phase", runtime::phase_resolve)
        .with_context("cause", std::move(cause));
}

error no_such_host(const std::string& name)
{
    return look_up_error(errc::name_not_found, name, "no such host");
}

/// Counts one coroutine for as long as it, and with it this, exists.
class counted {
public:
    explicit counted(std::size_t& in) : in_{&in} { ++in; }
    counted(counted&& from) noexcept : in_{std::exchange(from.in_, nullptr)} {}
    counted& operator=(counted&&) = delete;
    ~counted()
    {
        if (in_ != nullptr)
            --*in_;
    }

private:
    std::size_t* in_;
};

}  // namespace

incarnation::incarnation(universe& in, machine& on, std::size_t number)
    : all_{in}, on_{on}, chance_{in.seed, chance_of_hosts, pair_of(on.index(), number)}
{
}

incarnation::~incarnation()
{
    stop();
}

bool incarnation::run_one()
{
    const bool ran = queue_.run_one();
    if (stopped_)
        queue_.stop();  // it has crashed itself, and perhaps waits now
    return ran;
}

void incarnation::start(awaitable<void> what)
{
    asio::co_spawn(queue_.get_executor(), std::move(what),
                   [task = counted{all_.tasks}, &all = all_](std::exception_ptr escaped) {
                       if (escaped && !all.escaped)
                           all.escaped = escaped;
                   });
}

void incarnation::stop()
{
    stopped_ = true;
    queue_.stop();
}

std::shared_ptr<backlog> incarnation::listening_at(std::uint16_t port) const
{
    const auto found = listening_.find(port);
    return found == listening_.end() ? nullptr : found->second;
}

void incarnation::stop_listening(const std::shared_ptr<backlog>& at)
{
    listening_.erase(at->port);
    all_.wires.close(at);
}

runtime::wall_time incarnation::wall_now() const noexcept
{
    const duration since = wall_start + (steady_now() - timeline::start) + on_.wall_offset();
    return runtime::wall_time{std::chrono::duration_cast<runtime::wall_time::duration>(since)};
}

bool incarnation::is_own(const std::string& address) const
{
    const std::string name = normal_name(address);
    return name.empty() || name == "0.0.0.0" || name == "::" || name == "localhost" ||
           is_loopback(name) || name == on_.address() || name == normal_name(on_.name());
}

/// The next one that is free; 0 if there is none.
std::uint16_t incarnation::free_port()
{
    constexpr std::size_t first = 49152, count = 65536 - first;
    for (std::size_t tried = 0; tried < count; ++tried) {
        const auto port = static_cast<std::uint16_t>(first + ports_chosen_++ % count);
        if (!listening_.contains(port))
            return port;
    }
    return 0;
}

result<runtime::listener_ptr> incarnation::listen(runtime::destination where)
{
    if (where.is_path()) {
        return error{errc::not_available, "cannot listen at " + where.host +
                                              ": the simulation has no Unix sockets; use a port"};
    }
    const auto failed = [&](std::string cause) {
        return error{errc::listen_failed, "cannot listen at " + to_string(where) + ": " + cause}
            .with_context("server", to_string(where))
            .with_context("cause", std::move(cause));
    };
    if (stopped_)
        return failed("the host has crashed");
    if (!is_own(where.host))
        return failed("not an address of this host");
    if (where.port == 0)
        where.port = free_port();
    if (where.port == 0 || listening_.contains(where.port))
        return failed("address already in use");
    const auto at = std::make_shared<backlog>(*this);
    at->port = where.port;
    at->loopback_only = is_loopback(where.host) || normal_name(where.host) == "localhost";
    listening_.emplace(where.port, at);
    return runtime::listener_ptr{std::make_unique<sim_listener>(*this, at)};
}

/// The time that a look-up takes, and what comes of it if there is no answer.
awaitable<std::optional<error>> incarnation::ask_name_server(std::string name, time_point until)
{
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return look_up_error(errc::cancelled, name, "cancelled");
    const bool failing = all_.names.failing;
    const time_point answer = steady_now() + (failing ? dns_timeout : all_.names.latency);
    if (until > steady_now()) {
        const auto end = co_await runtime::sleep_until(*this, std::min(answer, until));
        if (end == runtime::wait_end::cancelled)
            co_return look_up_error(errc::cancelled, name, "cancelled");
    }
    if (until < answer)
        co_return look_up_error(errc::connect_timed_out, name, "timed out");
    if (failing)
        co_return look_up_error(errc::name_lookup_failed, name, "the name server does not answer");
    co_return std::nullopt;
}

void incarnation::trace_look_up(const std::string& name, std::size_t records)
{
    all_.history.add(traced::looked_up, on_.index(), {content_hash(name), records}, [&] {
        return on_.name() + " looks up " + name + ": " + std::to_string(records) + " records";
    });
}

awaitable<result<std::vector<std::string>>> incarnation::resolve(std::string host, time_point until)
{
    std::vector<std::string> found;
    if (is_address(host))
        found.push_back(host);
    else if (normal_name(host) == "localhost")
        found.push_back("127.0.0.1");
    if (!found.empty())
        co_return std::move(found);

    std::optional<error> failed = co_await ask_name_server(host, until);
    if (failed)
        co_return std::move(*failed);
    found = records_of(all_.names.addresses, host);
    trace_look_up(host, found.size());
    if (found.empty())
        co_return no_such_host(host);
    co_return std::move(found);
}

awaitable<result<std::vector<runtime::srv_record>>> incarnation::resolve_srv(std::string name,
                                                                             time_point until)
{
    std::optional<error> failed = co_await ask_name_server(name, until);
    if (failed)
        co_return std::move(*failed);
    auto found = records_of(all_.names.services, name);
    trace_look_up(name, found.size());
    if (found.empty())
        co_return no_such_host(name);
    for (runtime::srv_record& one : found)
        one.host = normal_name(one.host);
    co_return std::move(found);
}

awaitable<result<std::vector<std::string>>> incarnation::resolve_txt(std::string name,
                                                                     time_point until)
{
    std::optional<error> failed = co_await ask_name_server(name, until);
    if (failed)
        co_return std::move(*failed);
    auto found = records_of(all_.names.texts, name);
    trace_look_up(name, found.size());
    co_return std::move(found);
}

result<runtime::tls_ptr> incarnation::tls(const runtime::tls_options&)
{
    return error{errc::not_available,
                 "TLS is not available in the simulation: connect without it there"};
}

}  // namespace holdfast::sim
