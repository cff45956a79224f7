#pragma once
#include "core/pool/pool_event.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::core {

struct pool_settings {
    std::uint32_t max_size = 100;  // 0: no limit
    std::uint32_t min_size = 0;
    std::uint32_t max_connecting = 2;
    duration max_idle = duration::zero();  // 0: for ever
    bool load_balanced = false;  // then cursors keep connections, and errors say how many
};

/// One caller that waits for a connection.
using checkout_id = strong_id<struct checkout_id_tag, std::uint64_t>;

// What the shell has to do.

struct open_connection {  // then report opened() or open_failed()
    connection_id id;
    std::uint32_t generation;
};
struct close_connection {  // idle, or while it is opening
    connection_id id;
    close_reason reason;
};
struct interrupt_connection {  // fail what its user is doing; the user checks it in, broken
    connection_id id;
};
struct hand_out {
    checkout_id to;
    connection_id connection;
};
struct refuse {
    checkout_id who;
    checkout_failure why;
    std::optional<error> cause;  // why no connection could be had; none if the caller gave up
};
using pool_effect =
    std::variant<open_connection, close_connection, interrupt_connection, hand_out, refuse>;

/// The connections to one server: how many there are, who has them, who waits. It opens and closes
/// nothing itself; after each call the shell takes the effects and carries them out. Not
/// thread-safe: the shell holds the pool's mutex.
class connection_pool {
public:
    enum class state : std::uint8_t { paused, ready, closed };

    /// Paused at first. `tells` switches events on.
    explicit connection_pool(pool_settings settings, bool emit = true);

    state current() const noexcept { return state_; }
    std::uint32_t generation() const noexcept { return generation_; }
    /// Of one service behind a load balancer.
    std::uint32_t generation(const bson::object_id& service) const noexcept;

    std::size_t total() const noexcept { return connections_.size(); }
    std::size_t idle() const noexcept { return idle_.size(); }
    std::size_t opening() const noexcept { return opening_; }
    std::size_t in_use() const noexcept { return total() - idle() - opening(); }
    std::size_t waiting() const noexcept { return waiting_.size(); }

    /// The fast way: an idle connection, if nobody waits for it. Otherwise call check_out().
    std::optional<connection_id> check_out_now(time_point now);

    /// Waits in line; hand_out or refuse answers, perhaps at once.
    void check_out(checkout_id who, time_point now);

    /// The caller gave up. Without effect if the answer is already on its way.
    void cancel(checkout_id who, checkout_failure why, time_point now);

    /// `broken`: it failed, and must not be used again; `why`, if that is known.
    void check_in(connection_id id, bool broken, time_point now, const error* why = nullptr);

    /// Whether a connection that is not broken would be used again.
    bool would_keep(connection_id id) const noexcept;

    void opened(connection_id id, std::optional<bson::object_id> service, time_point now);
    void open_failed(connection_id id, const error& why, time_point now);
    /// The two halves of it, for who clears the pool in between: whoever waited for the connection
    /// is told, and then others are served, if the pool is still ready.
    void fail_opening(connection_id id, const error& why, time_point now);
    void go_on(time_point now);

    /// A connection in use stays with a cursor, or does so no longer.
    void pinned(bool by_cursor) noexcept { pinned_ += by_cursor ? 1 : -1; }

    /// The server was seen alive.
    void mark_ready(time_point now);

    /// The server failed: every connection of the present generation is stale, those who wait are
    /// told, and nothing is opened until mark_ready(). With a service, only its connections are
    /// stale and the pool goes on.
    void clear(const error& why, std::optional<bson::object_id> service, bool interrupt_in_use,
               time_point now);

    void close(time_point now);

    /// To be called from time to time: drops what is stale or idle for too long, keeps min_size.
    void maintain(time_point now);

    std::vector<pool_effect> take_effects() { return std::exchange(effects_, {}); }
    std::vector<pool_event> take_events() { return std::exchange(events_, {}); }
    bool has_effects() const noexcept { return !effects_.empty(); }

private:
    enum class used_for : std::uint8_t { nothing, opening_for_caller, opening_for_upkeep, caller };

    struct connection {
        std::uint32_t generation;
        used_for use;
        std::optional<bson::object_id> service;
        time_point since;  // opening began, or idle since
        bool interrupted = false;  // its user was told to stop
    };
    struct caller {
        checkout_id id;
        time_point since;
    };
    using connections = std::map<connection_id, connection>;

    bool is_stale(const connection& c) const noexcept;
    bool is_too_old(const connection& c, time_point now) const noexcept;
    bool has_room() const noexcept;
    bool may_open() const noexcept;

    void serve(time_point now);
    void fill(time_point now);
    void open(used_for purpose, time_point now);
    void opening_ends(const connection& c) noexcept;
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

    template <class Effect>
    void does(Effect e)
    {
        effects_.emplace_back(std::in_place_type<Effect>, std::move(e));
    }
    template <class Event>
    void emit(Event e)
    {
        if (emits_)
            events_.emplace_back(std::in_place_type<Event>, std::move(e));
    }

    pool_settings settings_;
    bool emits_;
    state state_ = state::paused;
    std::uint32_t generation_ = 0;
    std::map<bson::object_id, std::uint32_t> service_generations_;
    connection_id last_id_{0};
    connections connections_;
    std::vector<connection_id> idle_;  // the most recently used at the end
    std::deque<caller> waiting_;
    std::size_t opening_ = 0;
    std::size_t opening_to_be_given_ = 0;  // without those that are stale already
    std::optional<std::uint32_t> pace_;  // since a failure: see may_open()
    std::optional<error> paused_because_;
    std::int64_t pinned_ = 0;
    std::vector<pool_effect> effects_;
    std::vector<pool_event> events_;
};

}  // namespace holdfast::core
