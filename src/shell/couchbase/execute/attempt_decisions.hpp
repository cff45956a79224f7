#pragma once
#include "core/couchbase/retry/orchestrator.hpp"
#include "shell/couchbase/execute/cluster_state.hpp"
#include "shell/retry_loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::shell::couchbase {

/// Couchbase's half of the retry loop that is the same for all services: what follows from an
/// attempt that failed. While all goes well no state of retries exists.
class attempt_decisions {
public:
    using answer_type = result<core::couchbase::retry_action>;

    attempt_decisions(const attempt_decisions&) = delete;
    attempt_decisions& operator=(const attempt_decisions&) = delete;

    retry_step decide_retry(error why, time_point now);
    void ask(std::function<void(answer_type)> reply);
    settled_step answered(answer_type answer, time_point now);
    runtime::event& ends_waiting() noexcept { return cluster_->closing; }
    std::optional<error> woke(time_point now);
    error timed_out(time_point now);
    error cancelled(const error* undecided, time_point now);

protected:
    explicit attempt_decisions(std::shared_ptr<cluster_state> cluster)
        : cluster_{std::move(cluster)}
    {
    }
    ~attempt_decisions() = default;

    /// An error that was found in the reply of a request that succeeded.
    error explained(error why);
    /// A reply that broke off after a part of it was handed out: "17 rows".
    error broke_off(error why, const std::string& handed_out);
    /// The error of an attempt that the deadline or a cancellation has ended.
    error interrupted(const char* what);
    std::optional<error> closed_or_late(core::deadline until);
    error not_sendable(error why);

    core::couchbase::started_attempt open_attempt() const;
    std::uint32_t retry_attempts() const noexcept
    {
        return state_ ? state_->request.retry_attempts() : 0;
    }

    std::shared_ptr<cluster_state> cluster_;

    // Of the attempt that is under way, or has just failed.
    bool dispatched_ = false;  // any attempt so far
    bool out_of_time_ = false;
    dispatch_phase phase_ = dispatch_phase::not_sent;
    std::optional<core::couchbase::retry_reason> reason_;
    time_point started_{};
    std::unique_ptr<core::couchbase::retry_state> state_;  // null before the first failure

private:
    /// What the orchestrator has to know of the request.
    virtual core::couchbase::retry_request::settings describe() const = 0;
    virtual time_point began() const noexcept = 0;
    /// The node of the attempt; empty if there was none.
    virtual endpoint server() const = 0;
    /// With what the error is about.
    virtual error located(error why) const = 0;
    /// What a request that was never sent has waited for at last, node by node.
    virtual std::string waiting_for(time_point now) const = 0;

    core::couchbase::retry_state take_state();
    core::couchbase::failed_attempt failed(error why) const;
    settled_step apply(core::couchbase::retry_step step);
    error end_of(core::couchbase::retry_step step);
};

}  // namespace holdfast::shell::couchbase
