#pragma once
#include "core/couchbase/service/prepared_cache.hpp"
#include "core/couchbase/service/query.hpp"
#include "core/couchbase/service/service_reply.hpp"
#include "shell/couchbase/execute/service_operation.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

/// What the attempts of requests with rows ask: the orders of core, with what the shell knows.
namespace holdfast::couchbase {

/// The plans of a cluster's prepared statements.
class shared_prepared_cache {
public:
    std::optional<core::couchbase::prepared_plan> find(
        const core::couchbase::query_order& of) const;
    void put(const core::couchbase::query_order& of, core::couchbase::prepared_plan plan);
    void drop(const core::couchbase::query_order& of, const core::couchbase::prepared_plan& failed);
    std::size_t size() const;

private:
    mutable std::mutex mutex_;
    mutable core::couchbase::prepared_cache plans_;  // to look is to use: the order changes
};

/// What a reply of a service with rows means. Nothing: it is a success.
std::optional<core::couchbase::classification> meaning_of(
    service_type service, const shell::couchbase::service_reply_view& reply,
    const core::couchbase::failed_statement& of = {});

class query_operation final : public shell::couchbase::service_operation {
public:
    query_operation(core::couchbase::query_order what, std::shared_ptr<shared_prepared_cache> plans)
        : order_{std::move(what)}, plans_{std::move(plans)}
    {
    }

    result<core::couchbase::service_request> request(
        const shell::couchbase::attempt_view& of) override;
    std::optional<core::couchbase::classification> classify(
        const shell::couchbase::service_reply_view& reply) override;
    bool is_step() const override { return form_ == core::couchbase::query_form::prepare; }

private:
    const core::couchbase::query_order order_;
    const std::shared_ptr<shared_prepared_cache> plans_;
    std::optional<core::couchbase::query_run> run_;
    core::couchbase::query_form form_ = core::couchbase::query_form::plain;
    std::optional<core::couchbase::prepared_plan> plan_;  // that the last request was sent with
};

/// Of the services whose requests differ in the time that is left alone.
template <class Order>
class plain_operation final : public shell::couchbase::service_operation {
public:
    plain_operation(service_type service, Order what) : service_{service}, order_{std::move(what)}
    {
        if constexpr (requires { order_.readonly; })
            statement_.idempotent = order_.readonly;
    }

    result<core::couchbase::service_request> request(
        const shell::couchbase::attempt_view& of) override
    {
        if constexpr (requires { order_.request(of.time_left); })
            return order_.request(of.time_left);
        else
            return order_;
    }
    std::optional<core::couchbase::classification> classify(
        const shell::couchbase::service_reply_view& reply) override
    {
        return meaning_of(service_, reply, statement_);
    }

private:
    const service_type service_;
    const Order order_;
    core::couchbase::failed_statement statement_;
};

}  // namespace holdfast::couchbase
