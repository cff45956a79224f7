#pragma once
#include "core/couchbase/retry/orchestrator.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "runtime/wait.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"
#include "shell/observe/observation.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::shell::couchbase {

/// The retry budget of a cluster, if it has one.
class shared_retry_budget {
public:
    explicit shared_retry_budget(core::couchbase::retry_budget first)
        : is_on_{first.has_value()}, budget_{first}
    {
    }

    core::couchbase::retry_budget load() const
    {
        if (!is_on_)
            return std::nullopt;
        const std::scoped_lock lock{mutex_};
        return budget_;
    }
    /// What a decision has spent, whatever others did meanwhile.
    void spent(const core::couchbase::retry_budget& before,
               const core::couchbase::retry_budget& after)
    {
        if (!is_on_ || !before || !after || before == after)
            return;
        const std::scoped_lock lock{mutex_};
        if (const auto paid = budget_->spend(core::couchbase::retry_cost))
            budget_ = *paid;
    }
    void operation_succeeded()
    {
        if (!is_on_)
            return;
        const std::scoped_lock lock{mutex_};
        budget_ = budget_->earn(core::couchbase::success_refund);
    }

private:
    const bool is_on_;
    mutable std::mutex mutex_;
    core::couchbase::retry_budget budget_;
};

/// What all operations of a cluster share.
struct cluster_state {
    cluster_state(std::shared_ptr<runtime::world> in, std::shared_ptr<kv_cluster> of,
                  holdfast::couchbase::retry_strategy_ptr decides,
                  core::couchbase::retry_budget tokens)
        : keeps_world{std::move(in)},
          world{*keeps_world},
          nodes{std::move(of)},
          strategy{std::move(decides)},
          budget{tokens},
          closing{world}
    {
    }

    /// Ends all operations, also those that wait to be sent again.
    void close()
    {
        closing.notify();
        nodes->close();
    }

    const std::shared_ptr<runtime::world> keeps_world;
    runtime::world& world;
    const std::shared_ptr<kv_cluster> nodes;
    const holdfast::couchbase::retry_strategy_ptr strategy;  // null: the default
    shared_retry_budget budget;
    std::atomic<std::uint64_t> requests{0};  // that had to wait for a collection's id
    runtime::event closing;                  // happens once
    /// Null if operations are not observed; set before the first one.
    std::shared_ptr<shell::observation> observation = {};
    /// Each retry that is scheduled, and each that is not; may be empty.
    std::function<void(const core::couchbase::retry_event&, const core::couchbase::retry_request&)>
        on_retry = {};
};

}  // namespace holdfast::shell::couchbase
