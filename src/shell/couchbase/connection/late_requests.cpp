#include "shell/couchbase/connection/late_requests.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace holdfast::shell::couchbase {

late_requests::late_requests(std::shared_ptr<kv_connection> on, const std::vector<bool>& vbuckets)
    : on_{std::move(on)}
{
    const std::scoped_lock lock{on_->mutex_};
    on_->table_.each_waiting([&](std::uint32_t opaque, const auto& request) {
        if (request.vbucket && *request.vbucket < vbuckets.size() && vbuckets[*request.vbucket])
            opaques_.push_back(opaque);
    });
}

bool late_requests::are_in_flight() const
{
    const std::scoped_lock lock{on_->mutex_};
    return std::ranges::any_of(opaques_,
                               [&](std::uint32_t one) { return on_->table_.find(one) != nullptr; });
}

void late_requests::give_up(error why) const
{
    if (on_->options_.exclusive) {
        if (are_in_flight())
            on_->close(std::move(why));  // the thread that waits reads from the stream itself
        return;
    }
    const auto reason = std::make_shared<const error>(
        std::move(why).with_context("server", on_->server().value()));
    const time_point now = on_->world_.steady_now();
    const runtime::executor nowhere;  // so that none is resumed inline
    {
        const std::scoped_lock lock{on_->mutex_};
        for (const std::uint32_t one : opaques_) {
            const auto abandoned = on_->table_.abandon(one, now);
            if (!abandoned)
                continue;
            kv_delivery nothing;
            nothing.closed = reason;
            (void)abandoned->waiter->source.end(std::move(nothing), nowhere);
        }
    }
    on_->set_alarm();
}

}  // namespace holdfast::shell::couchbase
