#pragma once
#include "holdfast/mongo/events.hpp"
#include "tools/holdfast/drill/client.hpp"

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace holdfast::drill {

/// Listens to one client: counts retries and refusals, and knows its current primary.
class watcher final : public mongo::event_listener {
public:
    explicit watcher(client_counts& counts) : counts_{counts} {}

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
        // A write concern error too is a reason to send it again.
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
            failed_.erase(failed_.begin());  // the oldest one was not sent again
        failed_.emplace(of.operation, std::string{of.command_name});
    }

    static constexpr std::size_t most_remembered = 1000;

    client_counts& counts_;
    mutable std::mutex mutex_;
    /// Commands that failed, and have not been sent again. A bulk write sends several of different
    /// names under one number.
    std::set<std::pair<operation_id, std::string>> failed_;
    std::string primary_;
};

}  // namespace holdfast::drill
