#pragma once
#include "api/mongo/collection_settings.hpp"
#include "core/mongo/operation/operation_name.hpp"
#include "core/mongo/uri/uri.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/mongo/client.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/connection/connection_config.hpp"
#include "shell/mongo/execute/client_state.hpp"
#include "shell/mongo/execute/command_order.hpp"
#include "shell/mongo/execute/execute.hpp"
#include "shell/mongo/execute/operation_session.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::mongo {

/// What stands behind a client, in whatever world it lives.
struct client_impl : std::enable_shared_from_this<client_impl> {
    client_impl(std::shared_ptr<runtime::world> in, core::mongo::parsed_uri from,
                client_options options);
    client_impl(const client_impl&) = delete;
    client_impl& operator=(const client_impl&) = delete;
    ~client_impl();

    /// Looks up the seeds if they come from DNS, and opens the topology. The first operation does
    /// it; if that fails, or runs out of time, the next one tries again.
    runtime::awaitable<result<void>> open(core::deadline until = {});

    runtime::awaitable<result<bson::document>> run(shell::mongo::command_order order);
    result<session> start_session(const session_options& options);

    /// Adds to a command what the executor has to know: its deadline, and its session.
    shell::mongo::command_order order_for(core::mongo::command&& what, const session* in) const;

    /// A session of the library's own for several commands that belong together: a cursor. Passed
    /// on as `order.session`; given back to the pool when the last pointer goes.
    std::shared_ptr<shell::mongo::session_state> implicit_session();

    /// A whole operation of one command: carries it out and reads the reply. `Outcome` is T, and
    /// then failure is thrown, or result<T>. One coroutine frame, no more, if all is at hand.
    template <class T>
    using reader = result<T> (*)(core::mongo::command_outcome outcome,
                                 const core::mongo::command& sent);
    template <class Outcome, class T>
    runtime::awaitable<Outcome> run_and_read(result<core::mongo::command>&& what, const session* in,
                                             reader<T> read);

    /// A fresh id for a document.
    bson::object_id new_id() { return new_ids{*this}.next(); }

    /// Fresh ids for many documents at once: locks and looks at the clock only once. Not to be kept
    /// over a wait.
    class new_ids {
    public:
        explicit new_ids(client_impl& of)
            : now_{std::chrono::floor<std::chrono::seconds>(of.world->wall_now())},
              lock_{of.ids_mutex_},
              ids_{of.ids_}
        {
        }
        bson::object_id next() noexcept { return ids_.next(now_); }

    private:
        std::chrono::sys_seconds now_;
        std::scoped_lock<std::mutex> lock_;
        bson::object_id_source& ids_;
    };

    /// The settings of operations unless a database, a collection or they themselves have others.
    const collection_settings& everywhere() const noexcept { return *everywhere_; }
    const std::shared_ptr<const collection_settings>& everywhere_settings() const noexcept
    {
        return everywhere_;
    }

    runtime::awaitable<result<void>> make_ready(const shell::mongo::command_order& order);
    result<void> append_metadata(std::string_view name, std::string_view version,
                                 std::string_view platform);
    static runtime::awaitable<void> close(std::shared_ptr<client_impl> self, close_options options);
    std::string dump();

    /// Whether nothing has to be looked up or refused first. The order counts as running before the
    /// stage is read: a drain that begins meanwhile waits for it, or else it is refused.
    bool may_run_now(shell::mongo::command_order& order) const noexcept
    {
        order.counted = shell::mongo::running_operation{*running};
        const stage now = where.load();
        return (now == stage::open || (now == stage::draining && order.continues)) &&
               (!order.session || order.session->owner == this);
    }
    /// A client that drains still is.
    bool is_open() const noexcept
    {
        const stage now = where.load(std::memory_order_acquire);
        return now == stage::open || now == stage::draining;
    }

    const std::shared_ptr<runtime::world> world;
    const std::shared_ptr<shell::mongo::running_operations> running =
        std::make_shared<shell::mongo::running_operations>(*world);
    const client_options options;
    std::function<runtime::stream_ptr(runtime::stream_ptr)> make_blocking = {};  // see pool_options
    std::shared_ptr<log_sink> fallback_log = {};  // for warnings, if the application gave no log
    core::mongo::parsed_uri source;
    runtime::event opened;

    std::mutex mutex;
    enum class stage : std::uint8_t { fresh, opening, open, failed, draining, closed };
    std::atomic<stage> where = stage::fresh;  // changes under the mutex
    std::shared_ptr<shell::mongo::client_state> state;  // once open; does not change then
    std::optional<error> failure;
    std::shared_ptr<shell::mongo::self_description> described;  // once open
    std::vector<core::mongo::wrapping_library> wrapped_by;  // what was added before

private:
    static runtime::awaitable<result<bool>> wait_for_turn(std::shared_ptr<client_impl> self,
                                                          core::deadline until);
    static runtime::awaitable<result<void>> open_now(std::shared_ptr<client_impl> self,
                                                     core::deadline until);
    result<std::shared_ptr<shell::mongo::client_state>> made_of(
        const core::mongo::parsed_uri& found);
    void show_warnings(const shell::mongo::event_hub& to, const std::vector<std::string>& warnings);
    void settle(result<std::shared_ptr<shell::mongo::client_state>>& made);
    static runtime::awaitable<void> drain(std::shared_ptr<client_impl> self,
                                          std::chrono::milliseconds limit);
    static runtime::awaitable<void> end_sessions(std::shared_ptr<shell::mongo::client_state> with);
    template <class Outcome, class T>
    static runtime::awaitable<Outcome> open_and_read(std::shared_ptr<client_impl> self,
                                                     shell::mongo::command_order order,
                                                     reader<T> read);

    const std::shared_ptr<const collection_settings> everywhere_;
    bool warnings_shown_ = false;  // belongs to the one operation that opens the client
    std::mutex ids_mutex_;
    bson::object_id_source ids_;
};

/// Finds options that contradict each other, and those that this version does not support; with
/// client_options::strict the warnings about the connection string are errors, too.
result<void> check(const core::mongo::parsed_uri& from, const client_options& options);

namespace details {

/// A coroutine that has failed before it began.
template <class Outcome, class T>
runtime::awaitable<Outcome> failed(error why)
{
    co_return give<Outcome>(result<T>{std::move(why)});
}

}  // namespace details

template <class Outcome, class T>
runtime::awaitable<Outcome> client_impl::open_and_read(std::shared_ptr<client_impl> self,
                                                       shell::mongo::command_order order,
                                                       reader<T> read)
{
    // Cancelled in between is cancelled, too; Asio would throw out of the next co_await.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    std::optional<result<T>> outcome;
    auto ready = co_await self->make_ready(order);
    if (ready) {
        auto read_back = co_await shell::mongo::execute_and_read<result<T>>(self->state,
                                                                            std::move(order), read);
        outcome.emplace(std::move(read_back));
    } else {
        outcome.emplace(core::mongo::with_operation(std::move(ready).error(), order.command));
    }
    co_await asio::this_coro::throw_if_cancelled(throws);
    co_return details::give<Outcome>(*std::move(outcome));
}

/// No coroutine of its own where the way is clear: a frame costs as much as building a message.
template <class Outcome, class T>
runtime::awaitable<Outcome> client_impl::run_and_read(result<core::mongo::command>&& what,
                                                      const session* in, reader<T> read)
{
    if (!what) [[unlikely]]
        return details::failed<Outcome, T>(std::move(what).error());
    auto order = order_for(*std::move(what), in);
    if (may_run_now(order)) [[likely]]
        return shell::mongo::execute_and_read<Outcome>(state, std::move(order), read);
    return open_and_read<Outcome>(shared_from_this(), std::move(order), read);
}

}  // namespace holdfast::mongo
