#include "api/mongo/client_impl.hpp"
#include "api/mongo/process_facts.hpp"
#include "core/mongo/error/errc.hpp"
#include "shell/mongo/connection/handshake.hpp"
#include "shell/mongo/topology/sdam_events.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <exception>
#include <utility>

/// How a client finds its seeds and opens its topology.
namespace holdfast::mongo {
namespace {

using core::mongo::client_settings;
using shell::mongo::client_state;
using shell::mongo::connection_config;
using shell::mongo::topology_options;

/// Monitors do not log in and do not compress, whatever operations do.
std::shared_ptr<const connection_config> for_monitors(connection_config config)
{
    config.credential.reset();
    config.mechanism.reset();
    config.compressors.clear();
    return std::make_shared<const connection_config>(std::move(config));
}

topology_options options_for(const client_settings& from, connection_config config,
                             const core::mongo::client_metadata& who)
{
    topology_options options;
    options.start.seeds = from.seeds;
    options.start.replica_set = from.replica_set;
    options.start.direct_connection = from.direct_connection;
    options.start.load_balanced = from.load_balanced;
    options.selection.local_threshold = from.local_threshold;
    options.selection.heartbeat_frequency = from.heartbeat_frequency;
    options.pool.max_size = from.pool.max_size;
    options.pool.min_size = from.pool.min_size;
    options.pool.max_connecting = from.pool.max_connecting;
    options.pool.max_idle = from.pool.max_idle_time;
    if (from.load_balanced)
        options.pool.pin_reasons = shell::mongo::pin_reasons;
    options.pool_events = {.max_size = from.pool.max_size,
                           .min_size = from.pool.min_size,
                           .max_connecting = from.pool.max_connecting,
                           .max_idle_time = from.pool.max_idle_time,
                           .wait_queue_timeout = from.pool.wait_queue_timeout};
    options.monitor_config = for_monitors(config);
    options.config = std::make_shared<const connection_config>(std::move(config));
    options.profile = profile_of(from);
    options.monitoring = from.monitoring;
    if (from.srv) {
        shell::mongo::srv_polling polling;
        polling.rules.srv = *from.srv;
        polling.rules.heartbeat_frequency = from.heartbeat_frequency;
        polling.rules.shares_domain = core::mongo::shares_domain;
        polling.query = core::mongo::srv_query_name(*from.srv);
        polling.first_wait = std::max<duration>(from.srv->ttl,
                                                core::mongo::min_srv_rescan_interval);
        polling.timeout = from.server_selection_timeout;
        options.srv = std::move(polling);
    }
    options.function_as_a_service = is_function_as_a_service(who.environment);
    options.fail_fast_on_terminal_errors = from.fail_fast_on_terminal_errors;
    options.rescue_from_deposed_primary = from.rescue_from_deposed_primary;
    return options;
}

/// A user's selector sees descriptions, and answers with places among them.
core::mongo::server_selector adapted(const server_selector& users)
{
    if (!users)
        return {};
    return [users](std::span<const core::mongo::server_ptr> servers) {
        std::vector<server_description> seen;
        for (const core::mongo::server_ptr& one : servers)
            seen.push_back(shell::mongo::described(*one));
        std::vector<core::mongo::server_ptr> chosen;
        for (const std::size_t at : users(seen)) {
            if (at < servers.size())
                chosen.push_back(servers[at]);
        }
        return chosen;
    };
}

error is_closed()
{
    return error{runtime::errc::cancelled, "the client is closed"};
}

error not_open_in_time(const std::string& why)
{
    return error{core::mongo::errc::operation_timed_out, "the client was not open in time: " + why};
}

}  // namespace

runtime::awaitable<result<void>> client_impl::open(core::deadline until)
{
    // A cancelled look-up is a failed one; Asio would throw out of the next co_await.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    const auto self = shared_from_this();
    auto turn = co_await wait_for_turn(self, until);
    result<void> outcome;
    if (!turn)
        outcome = std::move(turn).error();
    else if (*turn)
        outcome = co_await open_now(self, until);
    co_await asio::this_coro::throw_if_cancelled(throws);
    co_return outcome;
}

/// True if no other operation opens the client: from now on the caller does. False if it is open.
runtime::awaitable<result<bool>> client_impl::wait_for_turn(std::shared_ptr<client_impl> self,
                                                            core::deadline until)
{
    for (;;) {
        const std::uint64_t seen = self->opened.count();
        {
            const std::scoped_lock lock{self->mutex};
            if (self->where == stage::open)
                co_return false;
            if (self->where == stage::closed || self->where == stage::draining)
                co_return is_closed();
            if (self->where != stage::opening) {
                self->where = stage::opening;
                co_return true;
            }
        }
        const runtime::wait_end end = co_await self->opened.wait(seen, until.when());
        if (end == runtime::wait_end::cancelled)
            co_return error{runtime::errc::cancelled,
                            "cancelled while another operation opened the client"};
        if (end == runtime::wait_end::timed_out)
            co_return not_open_in_time("another operation still looks up its seeds");
    }
}

runtime::awaitable<result<void>> client_impl::open_now(std::shared_ptr<client_impl> self,
                                                       core::deadline until)
{
    result<std::shared_ptr<client_state>> made = is_closed();
    std::exception_ptr thrown;
    try {
        auto found = co_await shell::mongo::look_up_seeds(*self->world, self->source, until.when());
        if (found)
            made = self->made_of(*found);
        else
            made = std::move(found).error();
    } catch (...) {
        thrown = std::current_exception();  // and the next one may try
    }
    self->settle(made);
    if (thrown)
        std::rethrow_exception(thrown);
    if (made)
        co_return result<void>{};
    if (made.error().code() != runtime::errc::cancelled && until.expired(self->world->steady_now()))
        co_return not_open_in_time(made.error().message());
    co_return std::move(made).error();
}

result<std::shared_ptr<client_state>> client_impl::made_of(const core::mongo::parsed_uri& found)
{
    if (auto fine = check(found, options); !fine)
        return std::move(fine).error();  // the TXT record has options as well
    auto events = std::make_shared<shell::mongo::event_hub>(
        options.listeners, options.log, options.log_document_length, fallback_log);
    show_warnings(*events, found.warnings);
    const auto who = api::describe_process(found.settings.app_name);
    auto config = shell::mongo::make_connection_config(*world, found.settings, who);
    if (!config)
        return std::move(config).error();
    // The connections' config alone keeps the password, and what is made of the key's.
    core::mongo::client_settings without_login = found.settings;
    without_login.credential.reset();
    without_login.tls.certificate_key_file_password.reset();
    auto made = std::make_shared<client_state>(world, std::move(without_login), events, running);
    {
        const std::scoped_lock lock{mutex};
        for (const core::mongo::wrapping_library& one : wrapped_by)
            (void)config->client->append(one);  // was accepted when it was given
        described = config->client;
    }
    auto for_topology = options_for(found.settings, *std::move(config), who);
    for_topology.make_blocking = make_blocking;
    for_topology.selection.selector = adapted(options.server_selector);
    made->servers = shell::mongo::topology::make(*world, std::move(for_topology), events);
    source.settings.credential.reset();
    source.settings.tls.certificate_key_file_password.reset();
    source.source.password.reset();
    source.source.options.clear();
    return made;
}

/// Once, however often the client must try to open.
void client_impl::show_warnings(const shell::mongo::event_hub& to,
                                const std::vector<std::string>& warnings)
{
    if (std::exchange(warnings_shown_, true))
        return;
    for (const std::string& one : warnings)
        to.warn(log_components::client, "connection string: " + one);
}

/// Publishes the outcome of opening to the operations that wait. The client may be closed by now.
void client_impl::settle(result<std::shared_ptr<client_state>>& made)
{
    {
        const std::scoped_lock lock{mutex};
        if (where == stage::closed)
            made = is_closed();
        failure.reset();
        if (made)
            state = *made;
        else
            failure = made.error();
        if (where != stage::closed)
            where = made ? stage::open : stage::failed;
    }
    if (made)
        (*made)->servers->open();
    opened.notify();
}

}  // namespace holdfast::mongo
