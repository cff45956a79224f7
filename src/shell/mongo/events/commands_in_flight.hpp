#pragma once
#include "holdfast/mongo/events.hpp"

#include <chrono>
#include <mutex>
#include <vector>

namespace holdfast::shell::mongo {

namespace events = holdfast::mongo::events;

/// A command that has had no reply for so long is reported.
inline constexpr std::chrono::seconds overdue_after{30};

/// The commands of a client that wait for their replies, in the order in which they were sent. The
/// monitors look at every heartbeat which of them are overdue, so that none needs a timer.
class commands_in_flight {
public:
    /// One of them, as long as it is in the list.
    class entry {
    public:
        entry() = default;
        entry(entry&&) noexcept {}  // only one that is not in the list is ever moved
        entry& operator=(entry&&) = delete;
        ~entry() { leave(); }

        void leave() noexcept
        {
            if (list_ != nullptr)
                list_->remove(*this);
        }

    private:
        friend class commands_in_flight;

        commands_in_flight* list_ = nullptr;
        const events::command_facts* of_ = nullptr;
        connection_id over_ = {};
        time_point sent_{};
        bool reported_ = false;
        entry* before_ = nullptr;
        entry* after_ = nullptr;
    };

    /// `of` is read until the entry leaves.
    void add(entry& one, const events::command_facts& of, connection_id over, time_point now);

    /// Those that are overdue and were not reported before.
    std::vector<events::command_overdue> take_overdue(time_point now);

private:
    void remove(entry& one) noexcept;

    std::mutex mutex_;
    entry* first_ = nullptr;
    entry* last_ = nullptr;
};

}  // namespace holdfast::shell::mongo
