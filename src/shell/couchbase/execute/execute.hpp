#pragma once
#include "shell/couchbase/execute/kv_attempts.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::couchbase {

/// kv_attempts of one operation: its request, and what its caller gets of the reply.
template <core::couchbase::kv_operation Operation>
class operation_attempts final : public kv_attempts {
public:
    using outcome = result<typename Operation::value_type>;

    operation_attempts(std::shared_ptr<cluster_state>&& cluster, kv_call&& call,
                       Operation&& operation)
        : kv_attempts{std::move(cluster), std::move(call)}, operation_{std::move(operation)}
    {
    }

    outcome outcome_of(result<answer> end)
    {
        if (!end) [[unlikely]]
            return std::move(end).error();
        if (!*outcome_) [[unlikely]]
            return explained(std::move(*outcome_).error());
        return *std::move(outcome_);
    }

private:
    const core::couchbase::kv_order& order() const noexcept override { return operation_.order; }
    bool is_answer(core::couchbase::kv_status status) const noexcept override
    {
        return Operation::is_answer(status);
    }
    void take(const core::couchbase::kv_reply& reply) override
    {
        outcome_.emplace(operation_.read(reply));
    }

    Operation operation_;
    std::optional<outcome> outcome_;
};

/// Executes one operation, with all retries it is entitled to. `Outcome` is T, and then failure is
/// thrown, or result<T>.
template <class Outcome, core::couchbase::kv_operation Operation>
runtime::awaitable<Outcome> execute(std::shared_ptr<cluster_state> cluster, kv_call&& call,
                                    Operation&& operation)
{
    runtime::world& in = cluster->world;
    const core::deadline until = call.until;
    using attempts = recycled<operation_attempts<Operation>>;
    return retry_loop_of<Outcome>(
        in, until, attempts::make(std::move(cluster), std::move(call), std::move(operation)));
}

}  // namespace holdfast::shell::couchbase
