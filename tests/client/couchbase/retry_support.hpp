#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/error.hpp"
#include "lab/couchbase/kv/faults.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// The request is not carried out, and answered by this status.
inline lab::couchbase::kv_fault status_fault(core::couchbase::kv_status what, std::string body = {})
{
    lab::couchbase::kv_fault made;
    made.error_code = static_cast<int>(what);
    made.body = std::move(body);
    return made;
}

/// The connection is closed instead of an answer; the request is not carried out.
inline lab::couchbase::kv_fault cut_fault()
{
    lab::couchbase::kv_fault made;
    made.close_connection = true;
    return made;
}

/// The request is carried out, and never answered.
inline lab::couchbase::kv_fault silent_fault()
{
    lab::couchbase::kv_fault made;
    made.silent = true;
    return made;
}

/// The reason of each attempt, by its name in the RFC; empty if there was none.
inline std::vector<std::string> labels_of(const error& why)
{
    std::vector<std::string> all;
    for (const attempt& one : why.history())
        all.push_back(one.labels.empty() ? "" : one.labels.front());
    return all;
}

/// Decides like another strategy, and keeps what it was asked.
class observing_strategy final : public couchbase::retry_strategy {
public:
    struct question {
        couchbase::retry_reason reason;
        std::uint32_t attempts;
        couchbase::retry_reason_set earlier;
        bool idempotent;
        std::string operation;
        bool has_own_strategy;  // the request says that it is this one
    };

    explicit observing_strategy(couchbase::retry_strategy_ptr like =
                                    std::make_shared<couchbase::best_effort_retry_strategy>())
        : like_{std::move(like)}
    {
    }

    couchbase::retry_answer retry_after(const couchbase::retry_request& request,
                                        couchbase::retry_reason reason) const override
    {
        asked.push_back({reason, request.retry_attempts(), request.retry_reasons(),
                         request.idempotent(), request.operation(),
                         request.strategy().get() == this});
        return like_->retry_after(request, reason);
    }

    bool was_asked_for(couchbase::retry_reason reason) const
    {
        return std::ranges::find(asked, reason, &question::reason) != asked.end();
    }
    /// Each reason once, in the order of its first appearance.
    std::vector<couchbase::retry_reason> reasons() const
    {
        couchbase::retry_reason_set each;
        for (const question& one : asked)
            each.insert(one.reason);
        return {each.begin(), each.end()};
    }

    mutable std::vector<question> asked;

private:
    couchbase::retry_strategy_ptr like_;
};

/// Refuses everything, and counts how often it is asked.
class refusing_strategy final : public couchbase::retry_strategy {
public:
    couchbase::retry_answer retry_after(const couchbase::retry_request&,
                                        couchbase::retry_reason) const override
    {
        ++asked;
        return couchbase::retry_action::no_retry();
    }
    mutable int asked = 0;
};

}  // namespace holdfast::proof
