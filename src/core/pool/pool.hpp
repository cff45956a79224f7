#pragma once
#include "core/pool/opening.hpp"
#include "core/pool/pool_effect.hpp"
#include "core/pool/pool_partition.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core {

struct pool_settings {
    std::uint32_t max_size = 100;  // 0: no limit
    std::uint32_t min_size = 0;
    std::uint32_t max_connecting = 2;
    std::uint32_t max_waiting = 0;  // callers in the queue; 0: no limit
    duration max_idle = duration::zero();  // 0: for ever
    /// How often idle and missing connections are looked for.
    duration upkeep_every = std::chrono::seconds{10};
    /// A connection that was idle for so long is looked at before it is used again: middleboxes and
    /// servers close such connections, and the first operation would pay for it.
    duration look_after = std::chrono::seconds{10};
    /// What may keep a connection for longer than one operation, as a check-out that timed out
    /// counts them: "cursors". A pin_reason is a position in this list.
    std::span<const std::string_view> pin_reasons = {};
};

using pin_reason = strong_id<struct pin_reason_tag, std::size_t>;

/// How many connections are kept for each reason. Others than those of the list are not counted.
class pinned_connections {
public:
    explicit pinned_connections(std::span<const std::string_view> reasons)
        : reasons_{reasons}, counts_(reasons.size())
    {
    }

    void count(pin_reason why, int change) noexcept
    {
        if (why.value() < counts_.size())
            counts_[why.value()] += change;
    }

    /// ", connections in use by cursors: 3" for each reason, and the rest of those in use.
    std::string text(std::size_t in_use) const;

private:
    std::span<const std::string_view> reasons_;
    std::vector<std::int64_t> counts_;
};

/// The connections to one server: how many there are, which are in use, how many callers wait. It
/// opens and closes nothing itself; after each call the shell takes the effects and carries them
/// out. Not thread-safe: the shell holds the pool's mutex.
class connection_pool : private pool_outbox {
public:
    enum class state : std::uint8_t { paused, ready, closed };

    /// Paused at first.
    explicit connection_pool(pool_settings settings, bool with_events = true);

    using pool_outbox::has_effects;
    using pool_outbox::take_effects;
    using pool_outbox::take_events;

    state current() const noexcept { return state_; }
    std::uint32_t generation(const std::optional<pool_partition>& of = {}) const noexcept
    {
        return generations_.current(of);
    }

    std::size_t total() const noexcept { return connections_.size(); }
    std::size_t idle() const noexcept { return idle_.size(); }
    std::size_t opening() const noexcept { return opening_.count(); }
    std::size_t in_use() const noexcept { return total() - idle() - opening(); }
    std::size_t waiting() const noexcept { return waiting_.size(); }

    /// The fast path: an idle connection, if no caller waits for it and it need not be looked at.
    /// Otherwise call check_out().
    std::optional<connection_id> check_out_now(time_point now);

    /// The connection that check_out() would give next, if it was idle for so long that its peer
    /// may have closed it. To be called before check_out().
    std::optional<connection_id> next_to_look_at(time_point now) const noexcept;

    /// It has: the connection is not used any more. Without one: all that are idle.
    void lost_idle(std::optional<connection_id> which = {});

    /// Enters the wait queue; hand_out or refuse answers, perhaps at once.
    void check_out(checkout_id who, time_point now);

    /// The caller gave up. Without effect if the answer is already on its way.
    void cancel(checkout_id who, checkout_failure why, time_point now);

    /// `broken`: it failed, and must not be used again; `why`, if that is known.
    void check_in(connection_id id, bool broken, time_point now, const error* why = nullptr);

    /// Whether a connection that is not broken would be used again.
    bool would_keep(connection_id id) const noexcept;

    void opened(connection_id id, std::optional<pool_partition> partition, time_point now);
    void open_failed(connection_id id, const error& why, time_point now);
    /// The two halves of open_failed(), for a shell that clears the pool in between: the caller
    /// that waited for the connection is refused; then others are served, if the pool is still
    /// ready.
    void fail_opening(connection_id id, const error& why, time_point now);
    void go_on(time_point now);
    /// The time of wake_up has come: a connection that opens may be overdue.
    void woke(time_point now);

    /// A connection in use is kept beyond its operation, or is so no longer. Reasons that the
    /// settings do not list are not counted.
    void pin(pin_reason why) noexcept { pinned_.count(why, 1); }
    void unpin(pin_reason why) noexcept { pinned_.count(why, -1); }

    /// The server was seen alive.
    void mark_ready(time_point now);

    /// The server failed: every connection of the present generation is stale, those that are
    /// opening are given up, waiting callers are refused, and nothing is opened until mark_ready().
    /// With a partition, only its connections are stale and the pool stays ready.
    void clear(const error& why, const std::optional<pool_partition>& partition,
               bool interrupt_in_use, time_point now);

    /// Another server has taken over this one's role: waiting callers are refused, so that they can
    /// choose it, and the users of these connections are interrupted. All else stays as it is.
    void replaced(const error& why, std::span<const connection_id> interrupted, time_point now);

    void close(time_point now);

    /// To be called from time to time: drops what is stale or idle for too long, keeps min_size.
    void maintain(time_point now);

private:
    enum class used_for : std::uint8_t { nothing, opening_for_caller, opening_for_upkeep, caller };

    struct connection {
        std::uint32_t generation;
        used_for use;
        std::optional<pool_partition> partition;
        time_point since;  // opening began, or idle since
        bool interrupted = false;  // what its user does was made to fail
        bool given_up = false;  // the same, although it is not stale
    };
    struct caller {
        checkout_id id;
        time_point since;
    };
    using connections = std::map<connection_id, connection>;

    bool is_stale(const connection& c) const noexcept;
    bool is_too_old(const connection& c, time_point now) const noexcept;
    bool has_capacity() const noexcept;
    bool wants_another(time_point now) const noexcept;

    void fill(time_point now);
    void open(used_for purpose, time_point now);
    std::optional<connections::iterator> take_idle(time_point now);
    void give(const caller& who, connections::iterator c, time_point now);
    void refuse_all(checkout_failure why, const error& cause, time_point now);
    void refuse_one(const caller& who, checkout_failure why, std::optional<error> cause,
                    time_point now);
    void drop(connections::iterator c, close_reason reason, const error* cause = nullptr);
    void drop_idle(time_point now);
    void drop_stale(bool interrupt_in_use);
    error timed_out() const;
    void keep_or_give(connections::iterator c, time_point now);

    pool_settings settings_;
    state state_ = state::paused;
    pool_generations generations_;
    connection_id last_id_{0};
    connections connections_;
    std::vector<connection_id> idle_;  // the most recently used at the end
    std::deque<caller> waiting_;
    opening_connections opening_;
    std::optional<error> paused_because_;
    pinned_connections pinned_;
};

}  // namespace holdfast::core
