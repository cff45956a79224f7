#include "api/client_parts.hpp"

#include "api/process_facts.hpp"
#include "core/mongo/error/errc.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "shell/mongo/connection/first_contact.hpp"
#include "shell/mongo/execute/command_attempts.hpp"
#include "shell/mongo/topology/sdam_told.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace holdfast::mongo {
namespace {

using core::mongo::client_settings;
using shell::mongo::client_state;
using shell::mongo::connection_recipe;
using shell::mongo::topology_options;

/// Monitors do not log in and do not compress, whatever operations do.
std::shared_ptr<const connection_recipe> for_monitors(connection_recipe recipe)
{
    recipe.credential.reset();
    recipe.mechanism.reset();
    recipe.compressors.clear();
    return std::make_shared<const connection_recipe>(std::move(recipe));
}

topology_options options_for(const client_settings& from, connection_recipe recipe,
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
    options.pool.load_balanced = from.load_balanced;
    options.pool_told = {.max_size = from.pool.max_size,
                         .min_size = from.pool.min_size,
                         .max_connecting = from.pool.max_connecting,
                         .max_idle_time = from.pool.max_idle_time,
                         .wait_queue_timeout = from.pool.wait_queue_timeout};
    options.monitor_recipe = for_monitors(recipe);
    options.recipe = std::make_shared<const connection_recipe>(std::move(recipe));
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
        polling.patience = from.server_selection_timeout;
        options.srv = std::move(polling);
    }
    options.function_as_a_service = is_function_as_a_service(who.environment);
    options.fail_fast_on_terminal_errors = from.fail_fast_on_terminal_errors;
    return options;
}

constexpr std::chrono::milliseconds patience_with_good_byes{500};

/// Keeps the world until the last coroutine of a client that was not closed has gone.
runtime::awaitable<void> outlive(std::shared_ptr<client_state> state)
{
    co_await state->servers->ended();
}

/// A write that says {writeConcern: {w: 0}} gets no reply.
bool is_unacknowledged(bson::view command)
{
    const bson::element concern = command.find("writeConcern");
    if (concern.type() != bson::type::document)
        return false;
    const auto w = concern.as_document().find("w").get<std::int64_t>();
    return w && *w == 0;
}

/// Process and counter are drawn by each client: two of them in one process are as far apart as two
/// processes.
bson::object_id_source new_id_source(runtime::world& in)
{
    bson::object_id_source::process_bytes process;
    in.random(process);
    std::array<std::uint8_t, 3> counter;
    in.random(counter);
    return {process, std::uint32_t{counter[0]} << 16 | std::uint32_t{counter[1]} << 8 | counter[2]};
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

}  // namespace

client_parts::client_parts(std::shared_ptr<runtime::world> in, core::mongo::parsed_uri from,
                           client_options how)
    : world{std::move(in)},
      options{std::move(how)},
      source{std::move(from)},
      opened{*world},
      everywhere_{.read_concern = source.settings.read_concern,
                  .write_concern = source.settings.write_concern,
                  .read_preference = source.settings.read_preference,
                  .timeout = source.settings.timeout},
      ids_{new_id_source(*world)}
{
    if (options.server_api)
        source.settings.server_api = {.version = options.server_api->version,
                                      .strict = options.server_api->strict,
                                      .deprecation_errors = options.server_api->deprecation_errors};
}

client_parts::~client_parts()
{
    if (!state || where == stage::closed)
        return;
    state->servers->close();
    asio::co_spawn(world->executor(), outlive(std::move(state)), asio::detached);
}

runtime::awaitable<result<void>> client_parts::open()
{
    const auto self = shared_from_this();
    for (;;) {
        const std::uint64_t seen = self->opened.count();
        {
            const std::scoped_lock lock{self->mutex};
            if (self->where == stage::open)
                co_return result<void>{};
            if (self->where == stage::closed)
                co_return is_closed();
            if (self->where != stage::opening) {
                self->where = stage::opening;
                break;
            }
        }
        const runtime::wait_end how = co_await self->opened.wait(seen);
        if (how == runtime::wait_end::cancelled)
            co_return is_closed();
    }
    std::optional<error> why;
    std::shared_ptr<client_state> made;
    auto found = co_await shell::mongo::look_up_seeds(*self->world, self->source);
    if (found) {
        const auto who = api::describe_process(found->settings.app_name);
        auto recipe = shell::mongo::make_recipe(*self->world, found->settings, who);
        if (recipe) {
            auto tell = std::make_shared<shell::mongo::event_hub>(
                self->options.listeners, self->options.log, self->options.log_document_length);
            made = std::make_shared<client_state>(self->world, found->settings, tell);
            for (const core::mongo::wrapping_library& one : self->wrapped_by)
                (void)recipe->client->append(one);  // was accepted when it was given
            self->described = recipe->client;
            auto how = options_for(found->settings, *std::move(recipe), who);
            how.make_blocking = self->make_blocking;
            how.selection.selector = adapted(self->options.server_selector);
            made->servers = shell::mongo::topology::make(*self->world, std::move(how), tell);
        } else {
            why = std::move(recipe).error();
        }
    } else {
        why = std::move(found).error();
    }
    {
        const std::scoped_lock lock{self->mutex};
        if (self->where == stage::closed)
            why = is_closed();
        if (!why)
            self->state = made;
        if (self->where != stage::closed)
            self->where = why ? stage::failed : stage::open;
        self->failure = why;
    }
    if (!why)
        made->servers->open();
    self->opened.notify();
    if (why)
        co_return *std::move(why);
    co_return result<void>{};
}

result<core::mongo::command> client_parts::command_for(std::string_view database,
                                                       bson::view command,
                                                       const command_options& how) const
{
    if (command.empty())
        return error{core::mongo::errc::command_failed,
                     "a command needs at least one field: its name"};
    core::mongo::command made;
    made.database = database;
    made.body = bson::document{command};
    made.timeout = how.timeout;
    switch (how.kind) {
    case command_kind::generic:
        break;
    case command_kind::read:
        made.kind = core::mongo::retry_kind::read;
        made.selects = core::mongo::operation_kind::read;
        made.preference = source.settings.read_preference;
        made.eligible = core::mongo::is_retryable_read((*command.begin()).key());
        break;
    case command_kind::write:
        made.kind = core::mongo::retry_kind::write;
        made.acknowledged = !is_unacknowledged(command);
        made.eligible = made.acknowledged;
        break;
    }
    if (how.read_preference) {
        auto preference = core::mongo::own(*how.read_preference);
        if (!preference)
            return std::move(preference).error();
        made.selects = core::mongo::operation_kind::read;
        made.preference = *std::move(preference);
    }
    return made;
}

shell::mongo::command_order client_parts::order_for(core::mongo::command what,
                                                    const session* in) const
{
    shell::mongo::command_order order{std::move(what)};
    if (in != nullptr)
        order.session = in->state_;
    const auto timeout = order.timeout ? order.timeout : source.settings.timeout;
    if (timeout && timeout->count() > 0)
        order.until = core::deadline::after(world->steady_now(), *timeout);
    return order;
}

/// No coroutine of its own where the way is clear: a frame costs as much as building a message.
runtime::awaitable<result<bson::document>> client_parts::run(shell::mongo::command_order order)
{
    if (may_run_now(order))
        return shell::mongo::execute(state, std::move(order));
    return open_and_run(std::move(order));
}

runtime::awaitable<result<bson::document>> client_parts::open_and_run(
    shell::mongo::command_order order)
{
    const auto self = shared_from_this();
    auto ready = co_await self->make_ready(order.session.get());
    if (!ready)
        co_return std::move(ready).error();
    co_return co_await shell::mongo::execute(self->state, std::move(order));
}

/// Looks up what must be looked up, unless the order makes no sense anyway.
runtime::awaitable<result<void>> client_parts::make_ready(
    const shell::mongo::session_state* session)
{
    if (session != nullptr && session->owner != this)
        co_return error{core::mongo::errc::command_failed,
                        "the session belongs to another client; start one with this client"};
    co_return co_await open();
}

result<session> client_parts::start_session(const session_options& how)
{
    const auto wrong = [](const char* text) {
        return error{core::mongo::errc::invalid_option, std::string{"start_session: "} + text};
    };
    if (how.snapshot && how.causal_consistency.value_or(false))
        return wrong("a snapshot session cannot be causally consistent; choose one of the two");
    if (how.snapshot_time && !how.snapshot)
        return wrong("snapshot_time needs snapshot = true");
    auto made = std::make_shared<shell::mongo::session_state>();
    made->owner = this;
    made->snapshot = how.snapshot;
    made->snapshot_time = how.snapshot_time;
    made->causal = how.causal_consistency.value_or(!how.snapshot);
    return session{std::move(made)};
}

std::shared_ptr<shell::mongo::session_state> client_parts::implicit_session()
{
    auto made = std::make_shared<shell::mongo::session_state>();
    made->owner = this;
    made->implicit = true;
    return made;
}

result<void> client_parts::append_metadata(std::string_view name, std::string_view version,
                                           std::string_view platform)
{
    core::mongo::wrapping_library library;
    library.name = name;
    library.version = version;
    library.platform = platform;
    const std::scoped_lock lock{mutex};
    if (described)
        return described->append(std::move(library));
    core::mongo::client_metadata alone;
    if (auto accepted = core::mongo::append(alone, library); !accepted)
        return accepted;
    wrapped_by.push_back(std::move(library));
    return {};
}

/// Tells the server which sessions will not be used again, if it can be told at once: it would find
/// out by itself.
runtime::awaitable<void> client_parts::end_sessions(std::shared_ptr<client_state> with)
{
    for (const auto& some : with->sessions.drain()) {
        shell::mongo::command_order order;
        bson::byte_buffer bytes;
        bson::builder command{bytes};
        {
            auto ids = command.array("endSessions");
            for (const bson::uuid& id : some)
                ids.document().add("id", id);
        }
        if (auto written = command.finish(); written)
            order.body = bson::document{*written};
        order.database = "admin";
        order.selects = core::mongo::operation_kind::read;
        order.preference.mode = core::mongo::read_mode::primary_preferred;
        order.until = core::deadline::after(with->world.steady_now(), patience_with_good_byes);
        const auto ended = co_await shell::mongo::execute(with, std::move(order));
        if (!ended)
            co_return;
    }
}

runtime::awaitable<void> client_parts::close()
{
    const auto self = shared_from_this();
    std::shared_ptr<client_state> with;
    {
        const std::scoped_lock lock{self->mutex};
        if (self->where != stage::closed)
            with = self->state;
        self->where = stage::closed;
    }
    self->opened.notify();
    if (!with)
        co_return;
    const auto anybody = with->servers->try_select({.kind = core::mongo::operation_kind::read});
    if (anybody && *anybody)
        co_await end_sessions(with);
    with->servers->close();
    co_await with->servers->ended();
}

std::string client_parts::dump()
{
    const std::scoped_lock lock{mutex};
    if (state)
        return state->servers->dump();
    return failure ? "not open: " + failure->message() : "not open yet";
}

}  // namespace holdfast::mongo
