#pragma once
#include "holdfast/mongo/events.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace holdfast::drill {

/// Listens to one client: counts the commands that it sends again, and knows whom it takes for the
/// primary.
class watcher final : public mongo::event_listener {
public:
    explicit watcher(std::atomic<std::uint64_t>& retries) : retries_{retries} {}

    std::string primary() const
    {
        const std::scoped_lock lock{mutex_};
        return primary_;
    }

    void on(const mongo::told::command_started& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        if (failed_.erase({e.of.operation, std::string{e.of.command_name}}) > 0)
            ++retries_;
    }
    void on(const mongo::told::command_failed& e) noexcept override { remember(e.of); }
    void on(const mongo::told::command_succeeded& e) noexcept override
    {
        // It was done, but not safely: that too is a reason to send it again.
        if (e.reply.find("writeConcernError"))
            remember(e.of);
    }
    void on(const mongo::told::topology_description_changed& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        primary_.clear();
        for (const mongo::server_description& one : e.current.servers) {
            if (one.type == "RSPrimary")
                primary_ = one.address.value();
        }
    }

private:
    void remember(const mongo::told::command_facts& of) noexcept
    {
        const std::scoped_lock lock{mutex_};
        if (failed_.size() > most_remembered)
            failed_.erase(failed_.begin());  // the oldest: nobody has come back to it
        failed_.emplace(of.operation, std::string{of.command_name});
    }

    static constexpr std::size_t most_remembered = 1000;

    std::atomic<std::uint64_t>& retries_;
    mutable std::mutex mutex_;
    /// Commands that failed, and have not been sent again. A bulk write sends several of different
    /// names under one number.
    std::set<std::pair<operation_id, std::string>> failed_;
    std::string primary_;
};

}  // namespace holdfast::drill
