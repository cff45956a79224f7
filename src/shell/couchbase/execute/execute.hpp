#pragma once
#include "shell/couchbase/execute/kv_attempts.hpp"
#include "shell/couchbase/execute/kv_watch.hpp"
#include "shell/late.hpp"
#include "shell/spare_buffers.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::couchbase {

/// kv_attempts of one operation: its request, and what its caller gets of the reply.
template <core::couchbase::kv_operation Operation>
class operation_attempts final : public kv_attempts {
public:
    using outcome = result<typename Operation::value_type>;

    /// `make_call` gives the kv_call, and then `build` the operation or an error: both are called
    /// at once, and what they make here is not moved any more.
    template <class MakeCall, class Build>
    operation_attempts(const std::shared_ptr<cluster_state>& cluster, MakeCall&& make_call,
                       Build&& build)
        : kv_attempts{cluster, make_call}, operation_(build())
    {
    }

    ~operation_attempts() override
    {
        if (operation_)
            spare_buffers::give_back(std::move(operation_->order.value));
    }

    /// False if it could not be built, and is not to be executed: see problem().
    bool is_built() const noexcept { return operation_.has_value(); }
    error problem() && { return std::move(operation_).error(); }

    /// Valid as long as this is.
    outcome&& outcome_of(result<answer>&& end)
    {
        if (!end) [[unlikely]]
            outcome_.make([&] { return outcome{std::move(end).error()}; });
        else if (!*outcome_) [[unlikely]]
            *outcome_ = explained(std::move(*outcome_).error());
        if (kv_watch::is_on(*this)) [[unlikely]] {
            const outcome& seen = *outcome_;
            kv_watch::ended(*this, seen ? nullptr : &seen.error());
        }
        return std::move(*outcome_);
    }

private:
    const core::couchbase::kv_order& order() const noexcept override { return operation_->order; }
    bool is_answer(core::couchbase::kv_status status) const noexcept override
    {
        return Operation::is_answer(status);
    }
    void take(const core::couchbase::kv_reply& reply) override
    {
        outcome_.make([&] { return operation_->read(reply); });
    }

    result<Operation> operation_;
    late<outcome> outcome_;
};

/// Executes one operation, with all retries it is entitled to. `Outcome` is T, and then failure is
/// thrown, or result<T>.
template <class Outcome, core::couchbase::kv_operation Operation>
runtime::awaitable<Outcome> execute(std::shared_ptr<cluster_state> cluster, kv_call&& call,
                                    Operation&& operation)
{
    const core::deadline until = call.until;
    auto take_call = [&] { return std::move(call); };
    auto build = [&] { return result<Operation>{std::move(operation)}; };
    auto begun = recycled<operation_attempts<Operation>>::make(cluster, take_call, build);
    if (cluster->observation)
        kv_watch::begin(*begun);
    return retry_loop_of<Outcome>(cluster->world, until, std::move(begun));
}

}  // namespace holdfast::shell::couchbase
