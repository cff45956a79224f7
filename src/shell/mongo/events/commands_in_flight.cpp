#include "shell/mongo/events/commands_in_flight.hpp"

#include <string>
#include <utility>

namespace holdfast::shell::mongo {

void commands_in_flight::add(entry& one, const events::command_facts& of, connection_id over,
                             time_point now)
{
    one.of_ = &of;
    one.over_ = over;
    one.sent_ = now;
    one.reported_ = false;
    const std::scoped_lock lock{mutex_};
    one.list_ = this;
    one.before_ = last_;
    (last_ != nullptr ? last_->after_ : first_) = &one;
    last_ = &one;
}

void commands_in_flight::remove(entry& one) noexcept
{
    const std::scoped_lock lock{mutex_};
    (one.before_ != nullptr ? one.before_->after_ : first_) = one.after_;
    (one.after_ != nullptr ? one.after_->before_ : last_) = one.before_;
    one.before_ = one.after_ = nullptr;
    one.list_ = nullptr;
}

std::vector<events::command_overdue> commands_in_flight::take_overdue(time_point now)
{
    std::vector<events::command_overdue> found;
    const std::scoped_lock lock{mutex_};
    for (entry* one = first_; one != nullptr && now - one->sent_ >= overdue_after;
         one = one->after_) {
        if (std::exchange(one->reported_, true))
            continue;
        const events::command_facts& of = *one->of_;
        found.push_back({.command_name = std::string{of.command_name},
                         .database_name = std::string{of.database_name},
                         .request = of.request,
                         .operation = of.operation,
                         .server = of.server,
                         .driver_connection = one->over_,
                         .waited = now - one->sent_});
    }
    return found;
}

}  // namespace holdfast::shell::mongo
