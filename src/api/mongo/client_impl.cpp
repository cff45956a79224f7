#include "api/mongo/client_impl.hpp"

#include "api/mongo/access.hpp"
#include "api/mongo/plain_replies.hpp"
#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "shell/mongo/execute/command_attempts.hpp"

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

/// An aggregation that ends in $out or $merge: a write that cannot be recognised.
bool writes_its_outcome(bson::view command)
{
    if ((*command.begin()).key() != "aggregate")
        return false;
    const bson::element pipeline = command.find("pipeline");
    return pipeline.type() == bson::type::array && core::mongo::writes_output(pipeline.as_array());
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

client_impl::~client_impl()
{
    if (!state)
        return;
    state->close();
    const runtime::executor on = world->executor();
    if (!on || state->servers->has_ended())
        return;  // nothing runs, or never will again: the context has gone before the client
    asio::co_spawn(on, outlive(std::move(state)), asio::detached);
}

result<core::mongo::command> client_impl::command_for(std::string_view database, bson::view command,
                                                      const command_options& options) const
{
    if (command.empty())
        return error{core::mongo::errc::command_failed,
                     "a command needs at least one field: its name"};
    core::mongo::command made;
    made.database = database;
    made.body = bson::document{command};
    made.timeout = options.timeout;
    switch (options.kind) {
    case command_kind::generic:
        break;
    case command_kind::read:
        made.kind = core::mongo::retry_kind::read;
        made.selects = core::mongo::operation_kind::read;
        made.preference = source.settings.read_preference;
        made.eligible = core::mongo::is_retryable_read((*command.begin()).key()) &&
                        !writes_its_outcome(command);
        break;
    case command_kind::write:
        made.kind = core::mongo::retry_kind::write;
        made.acknowledged = !is_unacknowledged(command);
        made.eligible = core::mongo::takes_transaction_number(
            {.name = (*command.begin()).key(),
             .touches_many = core::mongo::touches_many(command),
             .acknowledged = made.acknowledged},
            core::mongo::bulk_write_since);
        break;
    }
    if (options.read_preference) {
        auto preference = core::mongo::own(*options.read_preference);
        if (!preference)
            return std::move(preference).error();
        made.selects = core::mongo::operation_kind::read;
        made.preference = *std::move(preference);
    }
    return made;
}

shell::mongo::command_order client_impl::order_for(core::mongo::command&& what,
                                                   const session* in) const
{
    shell::mongo::command_order order{std::move(what)};
    if (in != nullptr)
        order.session = access::state_of(*in);
    if (const auto timeout = order.timeout ? order.timeout : source.settings.timeout)
        order.until = deadline_of(world->steady_now(), timeout);
    return order;
}

/// No coroutine of its own where the way is clear: a frame costs as much as building a message.
runtime::awaitable<result<bson::document>> client_impl::run(shell::mongo::command_order order)
{
    if (may_run_now(order))
        return shell::mongo::execute(state, std::move(order));
    return open_and_read<result<bson::document>>(shared_from_this(), std::move(order), read_reply);
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

/// Tells the server which sessions will not be used again, if it can be told at once: it would find
/// out by itself.
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
            order.body = bson::document{*written};
        order.database = "admin";
        order.selects = core::mongo::operation_kind::read;
        order.preference.mode = core::mongo::read_mode::primary_preferred;
        order.until = core::deadline::after(with->world.steady_now(), end_sessions_timeout);
        const auto ended = co_await shell::mongo::execute(with, std::move(order));
        if (!ended)
            co_return;
    }
}

runtime::awaitable<void> client_impl::close(std::shared_ptr<client_impl> self)
{
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
    with->close();
    co_await with->servers->ended();
}

std::string client_impl::dump()
{
    const std::scoped_lock lock{mutex};
    if (state)
        return state->servers->dump();
    return failure ? "not open: " + failure->message() : "not open yet";
}

}  // namespace holdfast::mongo
