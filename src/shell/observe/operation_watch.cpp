#include "shell/observe/operation_watch.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::shell {

operation_watch::operation_watch(observation& by, observed::operation facts,
                                 std::shared_ptr<const void> keeps)
    : by_{by}, operation_{std::move(facts), std::move(keeps)}
{
    observer_feed* const feed = by_.feed();
    if (feed == nullptr)
        return;
    operation_.facts.id = feed->next_operation();
    if (!feed->admits_operation())
        return;
    operation_.facts.began_at = by_.world().wall_now();
    fed_ = std::make_shared<const kept_operation>(operation_);
    feed->push(observer_records::operation_began{fed_});
}

operation_watch::~operation_watch()
{
    if (has_ended_)
        return;
    const error why{boost::asio::error::operation_aborted, "the operation was destroyed"};
    ended(by_.world().steady_now(), &why, 0);
}

void operation_watch::attempt_began(std::shared_ptr<const observed::connection> over,
                                    std::string request, time_point now)
{
    ++attempts_;
    in_attempt_ = true;
    sent_ = now;
    last_server_.reset();
    over_ = std::move(over);
    request_ = std::move(request);
    if (!fed_ || !by_.feed()->admits_attempt())
        return;
    attempt_ = std::make_shared<const kept_attempt>(
        kept_attempt{fed_, attempts_, over_, request_, now});
    by_.feed()->push(observer_records::attempt_began{attempt_});
}

void operation_watch::attempt_ended(time_point now, const attempt_outcome& with)
{
    if (!std::exchange(in_attempt_, false))
        return;
    last_dispatch_ = now - sent_;
    total_dispatch_ += last_dispatch_;
    last_server_ = with.server_duration;
    if (with.server_duration)
        total_server_ = total_server_.value_or(duration{}) + *with.server_duration;
    if (!attempt_)
        return;
    by_.feed()->push(observer_records::attempt_ended{std::exchange(attempt_, nullptr), now,
                                                     with.phase, with.server_duration, with.code,
                                                     with.reason});
}

void operation_watch::ended(time_point now, const error* why, std::uint32_t retries)
{
    if (std::exchange(has_ended_, true))
        return;
    if (in_attempt_) {
        attempt_outcome lost;
        lost.phase = dispatch_phase::in_flight;
        lost.code = why != nullptr ? why->code() : error_code{};
        attempt_ended(now, lost);
    }
    const duration total = now - facts().began;
    by_.request_ended(facts().service, total, [&] { return describe(total); });
    if (!fed_)
        return;
    by_.feed()->push(observer_records::operation_ended{
        fed_, now, attempts_, retries, encoding_.value_or(duration{}),
        why != nullptr ? std::optional<error>{*why} : std::nullopt});
}

core::reported_request operation_watch::describe(duration total) const
{
    core::reported_request made;
    made.total = total;
    made.encode = encoding_;
    made.operation = facts().name;
    made.timeout = facts().timeout;
    if (attempts_ == 0)
        return made;
    made.last_dispatch = last_dispatch_;
    made.total_dispatch = total_dispatch_;
    made.last_server = last_server_;
    made.total_server = total_server_;
    made.local_id = over_->id;
    made.operation_id = request_;
    made.local_socket = over_->local;
    made.remote_socket = over_->server.value();
    return made;
}

}  // namespace holdfast::shell
