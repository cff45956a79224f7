#include "api/mongo/client_impl.hpp"

#include "api/mongo/access.hpp"
#include "core/mongo/error/errc.hpp"
#include "holdfast/mongo/operations.hpp"
#include "shell/mongo/execute/execute.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace holdfast::mongo {
namespace {

using shell::mongo::client_state;

constexpr std::chrono::milliseconds end_sessions_timeout{500};

/// Of endSessions: without a primary, a secondary takes it.
core::mongo::read_preference any_member()
{
    return {.mode = core::mongo::read_mode::primary_preferred};
}

/// Keeps what the coroutines of a client that was not closed share, until the last has ended.
runtime::awaitable<void> outlive(std::shared_ptr<client_state> state)
{
    co_await state->servers->ended();
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

std::shared_ptr<const collection_settings> settings_of(const core::mongo::client_settings& from)
{
    auto made = std::make_shared<collection_settings>();
    made->read_concern = from.read_concern;
    made->write_concern = from.write_concern;
    made->read_preference = from.read_preference;
    made->timeout = from.timeout;
    return made;
}

/// 0 is no limit, and so is what no clock lives to see. What is less has passed already.
core::deadline deadline_of(time_point now, std::optional<std::chrono::milliseconds> timeout)
{
    using std::chrono::milliseconds;
    if (!timeout || timeout->count() == 0 ||
        *timeout >= std::chrono::floor<milliseconds>(duration::max()))
        return {};
    return core::deadline::after(now, std::max(*timeout, milliseconds::zero()));
}

}  // namespace

client_impl::client_impl(std::shared_ptr<runtime::world> in, core::mongo::parsed_uri from,
                         client_options user_options)
    : world{std::move(in)},
      options{std::move(user_options)},
      source{std::move(from)},
      opened{*world},
      everywhere_{settings_of(source.settings)},
      ids_{new_id_source(*world)}
{
    if (options.server_api)
        source.settings.server_api = {.version = options.server_api->version,
                                      .strict = options.server_api->strict,
                                      .deprecation_errors = options.server_api->deprecation_errors};
}

client_impl::~client_impl()
{
    if (!state)
        return;
    state->close();
    state->events->close();
    const runtime::executor on = world->executor();
    if (!on || state->servers->has_ended())
        return;  // nothing runs, or never will again: the context has gone before the client
    asio::co_spawn(on, outlive(std::move(state)), asio::detached);
}

shell::mongo::command_order client_impl::order_for(core::mongo::command&& what,
                                                   const session* in) const
{
    shell::mongo::command_order order{.command = std::move(what)};
    if (in != nullptr)
        order.session = access::state_of(*in);
    if (const auto timeout = order.command.timeout ? order.command.timeout
                                                   : source.settings.timeout)
        order.until = deadline_of(world->steady_now(), timeout);
    return order;
}

/// No coroutine of its own where the way is clear: a frame costs as much as building a message.
runtime::awaitable<result<bson::document>> client_impl::run(shell::mongo::command_order order)
{
    if (may_run_now(order))
        return shell::mongo::execute(state, std::move(order));
    return open_and_read<result<bson::document>>(shared_from_this(), std::move(order),
                                                 &core::mongo::run_command_operation::read);
}

/// Looks up what must be looked up, unless the order makes no sense anyway.
runtime::awaitable<result<void>> client_impl::make_ready(const shell::mongo::command_order& order)
{
    if (order.session && order.session->owner != this)
        co_return error{core::mongo::errc::command_failed,
                        "the session belongs to another client; start one with this client"};
    co_return co_await open(order.until);
}

result<session> client_impl::start_session(const session_options& options)
{
    const auto wrong = [](const char* text) {
        return error{core::mongo::errc::invalid_option, std::string{"start_session: "} + text};
    };
    if (options.snapshot && options.causal_consistency.value_or(false))
        return wrong("a snapshot session cannot be causally consistent; choose one of the two");
    if (options.snapshot_time && !options.snapshot)
        return wrong("snapshot_time needs snapshot = true");
    auto made = std::make_shared<shell::mongo::session_state>();
    made->owner = this;
    made->snapshot = options.snapshot;
    made->snapshot_time = options.snapshot_time;
    made->causal = options.causal_consistency.value_or(!options.snapshot);
    return access::make_session(std::move(made));
}

std::shared_ptr<shell::mongo::session_state> client_impl::implicit_session()
{
    auto made = std::make_shared<shell::mongo::session_state>();
    made->owner = this;
    made->implicit = true;
    return made;
}

result<void> client_impl::append_metadata(std::string_view name, std::string_view version,
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

/// Sends endSessions for all sessions of the pool, as long as that succeeds: the server would end
/// them by itself later.
runtime::awaitable<void> client_impl::end_sessions(std::shared_ptr<client_state> with)
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
            order.command.body = core::mongo::command_message{*written};
        order.command.database = "admin";
        order.command.without_session = true;
        order.command.selects = core::mongo::operation_kind::read;
        order.command.preference = any_member();
        order.until = core::deadline::after(with->world.steady_now(), end_sessions_timeout);
        const auto ended = co_await shell::mongo::execute(with, std::move(order));
        if (!ended)
            co_return;
    }
}

/// Begins no operation any more, and waits for those under way.
runtime::awaitable<void> client_impl::drain(std::shared_ptr<client_impl> self,
                                            std::chrono::milliseconds limit)
{
    {
        const std::scoped_lock lock{self->mutex};
        if (self->where == stage::open)
            self->where = stage::draining;
        if (self->where != stage::draining)
            co_return;
    }
    co_await self->running->ended(deadline_of(self->world->steady_now(), limit).when());
}

runtime::awaitable<void> client_impl::close(std::shared_ptr<client_impl> self,
                                            close_options options)
{
    if (options.drain.count() > 0)
        co_await drain(self, options.drain);
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
    const auto reachable = with->servers->try_select(
        {.kind = core::mongo::operation_kind::read, .preference = any_member()});
    if (reachable && *reachable)
        co_await end_sessions(with);
    with->close();
    co_await with->servers->ended();
    with->events->close();
}

std::string client_impl::dump()
{
    const std::scoped_lock lock{mutex};
    if (state)
        return state->servers->dump();
    return failure ? "not open: " + failure->message() : "not open yet";
}

}  // namespace holdfast::mongo
