#include "holdfast/mongo/session.hpp"

#include "core/mongo/error/errc.hpp"
#include "shell/mongo/execute/operation_session.hpp"

#include <utility>

namespace holdfast::mongo {

session::session(std::shared_ptr<shell::mongo::session_state> made) noexcept
    : state_{std::move(made)}
{
}

std::optional<bson::uuid> session::id() const
{
    return state_->server ? std::optional{state_->server->id()} : std::nullopt;
}

std::optional<bson::document> session::cluster_time() const
{
    return state_->cluster_time.latest();
}

std::optional<bson::timestamp> session::operation_time() const
{
    return state_->operation_time.latest();
}

void session::advance_cluster_time(bson::view time) const
{
    state_->cluster_time.advance(time);
}

void session::advance_operation_time(bson::timestamp time) const
{
    state_->operation_time.advance(time);
}

std::optional<bson::timestamp> session::snapshot_time() const
{
    if (!state_->snapshot)
        throw failure{error{core::mongo::errc::invalid_option,
                            "snapshot_time: this is no snapshot session; start one with "
                            "{.snapshot = true}"}};
    return state_->snapshot_time;
}

void session::end() const
{
    state_->end();
}

}  // namespace holdfast::mongo
