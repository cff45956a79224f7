#include "shell/mongo/execute/command_attempts.hpp"

#include <algorithm>
#include <utility>

/// What becomes of a command whose connection has to log in again.
namespace holdfast::shell::mongo {

/// Whether the last attempt has kept its connection, for that one has to log in again. Another one
/// might have to as well, and an attempt would be lost to each.
bool command_attempts::logs_in_next() const noexcept
{
    return trip_ && trip_->over && (*trip_->over)->needs_login();
}

/// As long as it takes to open a connection, and no longer than there is time for the command.
runtime::awaitable<result<void>> command_attempts::log_in()
{
    time_point last = order_.until.when();
    if (client_->settings.connect_timeout.count() != 0)
        last = std::min(last, client_->world.steady_now() + client_->settings.connect_timeout);
    connection& to = **trip_->over;
    to.expires_at(last);
    auto known = co_await trip_->on.pool().log_in_again(to);
    if (!known) {
        error why = to.usable() ? not_sent(std::move(known).error(), trip_->on)
                                : lost(std::move(known).error(), to, trip_->on);
        trip_.reset();
        co_return why;
    }
    co_return known;
}

}  // namespace holdfast::shell::mongo
