#pragma once
#include "holdfast/mongo/events.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace holdfast::drill {

/// What all clients of a storm have met.
struct met {
    std::atomic<std::uint64_t> retries = 0;  // commands that were sent again
    std::atomic<std::uint64_t> refusals = 0;  // by servers that were too busy
};

/// Listens to one client: counts what it meets, and knows whom it takes for the primary.
class watcher final : public mongo::event_listener {
public:
    explicit watcher(met& counts) : counts_{counts} {}

    std::string primary() const
    {
        const std::scoped_lock lock{mutex_};
        return primary_;
    }

    void on(const mongo::events::command_started& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        if (failed_.erase({e.of.operation, std::string{e.of.command_name}}) > 0)
            ++counts_.retries;
    }
    void on(const mongo::events::command_failed& e) noexcept override
    {
        if (e.failure.has_label("SystemOverloadedError"))
            ++counts_.refusals;
        remember(e.of);
    }
    void on(const mongo::events::command_succeeded& e) noexcept override
    {
        // It was done, but not safely: that too is a reason to send it again.
        if (e.reply.find("writeConcernError"))
            remember(e.of);
    }
    void on(const mongo::events::topology_description_changed& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        primary_.clear();
        for (const mongo::server_description& one : e.current.servers) {
            if (one.type == "RSPrimary")
                primary_ = one.address.value();
        }
    }

private:
    void remember(const mongo::events::command_facts& of) noexcept
    {
        const std::scoped_lock lock{mutex_};
        if (failed_.size() > most_remembered)
            failed_.erase(failed_.begin());  // the oldest: nobody has come back to it
        failed_.emplace(of.operation, std::string{of.command_name});
    }

    static constexpr std::size_t most_remembered = 1000;

    met& counts_;
    mutable std::mutex mutex_;
    /// Commands that failed, and have not been sent again. A bulk write sends several of different
    /// names under one number.
    std::set<std::pair<operation_id, std::string>> failed_;
    std::string primary_;
};

}  // namespace holdfast::drill
