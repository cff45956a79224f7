#pragma once
#include "core/pool/pool.hpp"
#include "runtime/background.hpp"
#include "runtime/world.hpp"
#include "shell/pool/pooled_connection.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::shell {

class pool;

/// A connection in use. Goes back to its pool when this is destroyed.
template <class Connection>
class lease {
public:
    lease(std::shared_ptr<pool> from, pooled_ptr what) noexcept
        : pool_{std::move(from)}, connection_{std::move(what)}
    {
    }
    lease(lease&&) noexcept = default;
    lease& operator=(lease&& other) noexcept
    {
        give_back();
        pool_ = std::move(other.pool_);
        connection_ = std::move(other.connection_);
        return *this;
    }
    ~lease() { give_back(); }

    /// Earlier than by itself, and by a clock that the caller has just read.
    void give_back(time_point now) noexcept;

    Connection& operator*() const noexcept { return static_cast<Connection&>(*connection_); }
    Connection* operator->() const noexcept { return static_cast<Connection*>(connection_.get()); }

    /// The same lease for a pool whose connections are all of this class.
    template <class Known>
    lease<Known> as() &&
    {
        return {std::move(pool_), std::move(connection_)};
    }

private:
    void give_back() noexcept;

    std::shared_ptr<pool> pool_;
    pooled_ptr connection_;
};

struct pool_counts {
    std::size_t total = 0;
    std::size_t idle = 0;
    std::size_t opening = 0;
    std::size_t waiting = 0;
    std::uint32_t generation = 0;
};

/// Carries out what core::connection_pool decides, for one server of any protocol. The class
/// derived from it opens connections, decides what becomes of those that come back, and reports
/// events. Thread-safe; its mutex is held briefly, never over a wait or a listener.
class pool : public std::enable_shared_from_this<pool> {
public:
    virtual ~pool();

    /// A connection in use is kept beyond its operation, or is so no longer.
    void pin(core::pin_reason why);
    void unpin(core::pin_reason why);

    // These report no events: the caller may hold a lock, and delivers afterwards.
    void mark_ready();
    void clear(const error& why, const std::optional<core::pool_partition>& partition,
               bool interrupt_in_use);
    /// Another server has taken over this one's role: waiting callers are refused with `why`, and
    /// what can be repeated there is given up.
    void replaced(const error& why);
    /// Connections in use are closed when they come back; `interrupt` ends what they are used for.
    void close(bool interrupt);

    std::uint32_t generation(const std::optional<core::pool_partition>& of = {}) const;
    pool_counts counts() const;

    /// After close(): waits until nothing of it runs any more.
    runtime::awaitable<void> ended();

protected:
    struct opened_connection {
        pooled_ptr connection;
        std::optional<core::pool_partition> partition = {};
    };

    pool(runtime::world& in, const core::pool_settings& limits, bool with_events);

    /// Opens a connection of this generation; cancelled when the pool no longer wants it.
    virtual runtime::awaitable<result<opened_connection>> open(std::uint32_t generation) = 0;
    /// A connection could not be opened. Called with no lock held, before the caller that waited
    /// for it resumes and before its events are reported. Must not throw.
    virtual void open_failed(const error& why, std::uint32_t generation) = 0;
    /// Decides what becomes of a connection that was in use, and calls check_in().
    virtual void give_back(pooled_ptr what, time_point now) noexcept = 0;
    /// Called with the pool's mutex held, if the pool was made with events.
    virtual void queue(const std::vector<core::pool_event>& events) = 0;
    /// Called with no lock held: reports what was queued.
    virtual void deliver() = 0;

    /// The fast path, without a coroutine: an idle connection if there is one.
    pooled_ptr take_idle(time_point now);
    /// Waits in the queue for one. The error is the pool's own (core::pool_errc), or why a
    /// connection could not be opened, or runtime::errc::cancelled. `may_go_elsewhere`: fails at
    /// once while another server stands for this one.
    runtime::awaitable<result<lease<pooled_connection>>> wait_for_connection(
        time_point until, bool may_go_elsewhere = true);

    /// `broken`: it must not be used again; `why`, if that is known, stays valid with `what`.
    void check_in(pooled_ptr what, bool broken, time_point now, const error* why = nullptr);
    bool would_keep(connection_id id) const;
    /// Idle connections are not used any more: the peer has closed one of them.
    void drop_idle();

    /// Calls `each(const pooled_connection&)` with the mutex held, which keeps them.
    template <class Each>
    void each_in_use(Each&& each) const
    {
        const std::scoped_lock lock{mutex_};
        for (const auto& [id, one] : entries_) {
            if (one.in_use != nullptr)
                each(*one.in_use);
        }
    }

    /// Runs until it ends, or the pool is closed.
    void start(runtime::awaitable<void> what) { tasks_.start(std::move(what)); }
    runtime::world& world() const noexcept { return world_; }

private:
    template <class Connection>
    friend class lease;
    struct waiter;
    /// The half of one of the connections of the state machine that belongs to the shell.
    struct entry {
        pooled_ptr idle = {};
        pooled_connection* in_use = nullptr;
        time_point idle_since{};
        runtime::background::task opening = {};
    };
    struct pending_work;

    [[nodiscard]] pending_work settle();
    void perform(core::pool_effect& effect, pending_work& work);
    template <class Change>
    void change(const Change& what);
    void queue_events();
    void drop_lost_idle(time_point now);
    pooled_ptr take(connection_id id);

    static runtime::awaitable<void> open_one(std::shared_ptr<pool> self,
                                             core::open_connection which);
    void opened(connection_id id, std::uint32_t generation, opened_connection made);
    void failed(connection_id id, std::uint32_t generation, const error& why);
    static runtime::awaitable<void> wake_up(std::weak_ptr<pool> which, runtime::world& in,
                                            time_point at);
    static runtime::awaitable<void> upkeep(std::weak_ptr<pool> which, runtime::world& in,
                                           duration every);
    static runtime::awaitable<void> trim(std::weak_ptr<pool> which, runtime::world& in);
    bool trim_idle(time_point now);

    runtime::world& world_;  // owned by tasks_
    const core::pool_settings limits_;
    const bool with_events_;
    runtime::background tasks_;

    mutable std::mutex mutex_;
    core::connection_pool machine_;
    std::map<connection_id, entry> entries_;
    std::map<core::checkout_id, std::shared_ptr<waiter>> waiters_;
    std::uint64_t last_checkout_ = 0;
    bool upkeep_started_ = false;
    bool trimming_ = false;
    std::optional<error> replaced_;  // by another server, until this one is ready again
};

template <class Connection>
void lease<Connection>::give_back() noexcept
{
    if (connection_)
        pool_->give_back(std::move(connection_), pool_->world_.steady_now());
}

template <class Connection>
void lease<Connection>::give_back(time_point now) noexcept
{
    pool_->give_back(std::move(connection_), now);
}

}  // namespace holdfast::shell
