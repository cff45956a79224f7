#include "api/couchbase/service_operations.hpp"

#include "core/couchbase/config/cluster_config.hpp"
#include "core/couchbase/rows/row_splitter.hpp"
#include "holdfast/couchbase/errc.hpp"

namespace holdfast::couchbase {

using core::couchbase::classification;
using core::couchbase::prepared_plan;
using core::couchbase::query_form;
using core::couchbase::query_order;
using shell::couchbase::attempt_view;
using shell::couchbase::service_reply_view;

namespace {

/// Older servers send a plan as the only row.
result<prepared_plan> plan_in_reply(std::string_view body)
{
    core::couchbase::row_splitter splitter{core::couchbase::rows_array_of(service_type::query)};
    splitter.feed(body);
    std::string_view row;
    if (!splitter.next(row))
        return error{errc::decoding_failure, "the reply to PREPARE has no plan"};
    return core::couchbase::plan_in_row(row);
}

}  // namespace

std::optional<prepared_plan> shared_prepared_cache::find(const query_order& of) const
{
    const std::scoped_lock lock{mutex_};
    const prepared_plan* const known = plans_.find(of.statement, of.query_context);
    return known != nullptr ? std::optional{*known} : std::nullopt;
}

void shared_prepared_cache::put(const query_order& of, prepared_plan plan)
{
    const std::scoped_lock lock{mutex_};
    plans_.put(of.statement, of.query_context, std::move(plan));
}

void shared_prepared_cache::drop(const query_order& of, const prepared_plan& failed)
{
    const std::scoped_lock lock{mutex_};
    plans_.drop(of.statement, of.query_context, failed);
}

std::size_t shared_prepared_cache::size() const
{
    const std::scoped_lock lock{mutex_};
    return plans_.size();
}

std::optional<classification> meaning_of(service_type service, const service_reply_view& reply,
                                         const core::couchbase::failed_statement& of)
{
    return core::couchbase::failure_in({service, reply.status, reply.body}, of);
}

result<core::couchbase::service_request> query_operation::request(const attempt_view& of)
{
    if (!run_)
        run_.emplace(order_.prepared,
                     core::couchbase::has_capability(of.config.capabilities,
                                                     "n1ql.enhancedPreparedStatements"));
    plan_ = order_.prepared ? plans_->find(order_) : std::nullopt;
    form_ = run_->next(plan_ ? &*plan_ : nullptr);
    if (form_ != query_form::execute)
        plan_.reset();
    return order_.request(form_, plan_ ? &*plan_ : nullptr, of.time_left);
}

std::optional<classification> query_operation::classify(const service_reply_view& reply)
{
    auto meant = meaning_of(service_type::query, reply,
                            {run_->prepared_failures(), order_.readonly});
    if (meant) {
        if (meant->reason == core::couchbase::retry_reason::query_prepared_statement_failure) {
            run_->plan_was_refused();
            if (plan_)
                plans_->drop(order_, *plan_);
        }
        return meant;
    }
    if (form_ == query_form::prepare_and_execute) {
        if (auto plan = core::couchbase::plan_in_metadata(reply.body))
            plans_->put(order_, *std::move(plan));
    } else if (form_ == query_form::prepare) {
        auto plan = plan_in_reply(reply.body);
        if (!plan) {
            classification unreadable;
            unreadable.code = plan.error().code();
            unreadable.message = plan.error().message();
            return unreadable;
        }
        plans_->put(order_, *std::move(plan));
    }
    return std::nullopt;
}

}  // namespace holdfast::couchbase
