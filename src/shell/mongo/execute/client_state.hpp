#pragma once
#include "core/mongo/session/cluster_time.hpp"
#include "core/mongo/session/server_session.hpp"
#include "core/mongo/settings/client_settings.hpp"
#include "core/retry/token_bucket.hpp"
#include "holdfast/bson/builder.hpp"
#include "runtime/world.hpp"
#include "shell/mongo/events/event_hub.hpp"
#include "shell/mongo/execute/running_operations.hpp"
#include "shell/mongo/topology/topology.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::shell::mongo {

/// The server sessions of a client that are not in use.
class session_store {
public:
    explicit session_store(runtime::world& in) noexcept : world_{in} {}

    core::mongo::server_session take(std::optional<std::int32_t> timeout_minutes, time_point now);
    void give_back(core::mongo::server_session session, std::optional<std::int32_t> timeout_minutes,
                   time_point now);
    std::vector<std::vector<bson::uuid>> drain();

private:
    runtime::world& world_;
    std::mutex mutex_;
    core::mongo::session_pool pool_;
};

/// The newest cluster time of any reply, to be sent with every command.
class cluster_clock {
public:
    void advance(bson::view time);
    void write(bson::builder& command) const;
    bool is_older_than(bson::view time) const;

private:
    static constexpr std::uint64_t as_number(bson::timestamp time) noexcept
    {
        return std::uint64_t{time.seconds} << 32 | time.increment;
    }

    std::atomic<std::uint64_t> newest_{0};  // so that a time that is not newer needs no lock
    mutable std::mutex mutex_;
    core::mongo::cluster_time time_;
};

/// The retry budget of a client, a value in an atomic.
class shared_budget {
public:
    core::token_bucket load() const noexcept { return bucket_.load(std::memory_order_relaxed); }

    /// Replaces the bucket by `change(bucket)`, whatever others do at the same time.
    template <class Change>
    void update(Change&& change) noexcept
    {
        core::token_bucket before = load();
        while (!bucket_.compare_exchange_weak(before, change(before), std::memory_order_relaxed)) {}
    }

private:
    std::atomic<core::token_bucket> bucket_{core::token_bucket{}};
};

/// What all operations of a client share.
struct client_state {
    client_state(std::shared_ptr<runtime::world> in, core::mongo::client_settings from,
                 std::shared_ptr<event_hub> events_to, std::shared_ptr<running_operations> counted)
        : keeps_world{std::move(in)},
          world{*keeps_world},
          settings{std::move(from)},
          profile{profile_of(settings)},
          adaptive{uses_token_bucket(settings)},
          events{std::move(events_to)},
          running{std::move(counted)},
          sessions{world},
          closing{world}
    {
    }

    /// Ends all operations, also those that wait to be sent again.
    void close()
    {
        closing.notify();
        servers->close();
    }

    const std::shared_ptr<runtime::world> keeps_world;
    runtime::world& world;
    const core::mongo::client_settings settings;
    const core::mongo::resilience_profile profile;
    const bool adaptive;
    const std::shared_ptr<event_hub> events;
    const std::shared_ptr<running_operations> running;
    std::shared_ptr<topology> servers;
    session_store sessions;
    cluster_clock cluster_time;
    shared_budget tokens;
    std::atomic<std::int64_t> operations{0};
    runtime::event closing;  // happens once
};

}  // namespace holdfast::shell::mongo
