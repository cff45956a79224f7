#pragma once
#include "shell/couchbase/execute/service_operation.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::proof {

using core::couchbase::classification;
using core::couchbase::service_request;
using core::couchbase::service_type;
using shell::couchbase::attempt_view;
using shell::couchbase::service_reply_view;

/// An operation of a service, as its test wants it. By default it posts a statement and takes any
/// reply for a success.
class scripted_operation final : public shell::couchbase::service_operation {
public:
    std::function<result<service_request>(const attempt_view&)> build = {};
    std::function<std::optional<classification>(const service_reply_view&)> meaning = {};
    std::function<bool()> step = {};

    result<service_request> request(const attempt_view& of) override
    {
        if (build)
            return build(of);
        service_request made;
        made.method = core::couchbase::http_method::post;
        made.path = "/query/service";
        made.content_type = core::couchbase::json_content;
        made.body = "{\"timeout\":\"" + std::to_string(of.time_left.count()) + "ms\"}";
        return made;
    }
    std::optional<classification> classify(const service_reply_view& reply) override
    {
        return meaning ? meaning(reply) : std::nullopt;
    }
    bool is_step() const override { return step && step(); }
};

/// What a test wants of a request.
struct service_wish {
    bool idempotent = true;
    std::chrono::milliseconds timeout{10'000};
    service_type service = service_type::query;
    std::string bucket = {};
    std::optional<endpoint> only = {};
    couchbase::retry_strategy_ptr strategy = {};
    std::shared_ptr<scripted_operation> operation = {};
};

/// Leaves the operation to its test.
class borrowed_operation final : public shell::couchbase::service_operation {
public:
    explicit borrowed_operation(std::shared_ptr<scripted_operation> of) : of_{std::move(of)} {}
    result<service_request> request(const attempt_view& one) override { return of_->request(one); }
    std::optional<classification> classify(const service_reply_view& reply) override
    {
        return of_->classify(reply);
    }
    bool is_step() const override { return of_->is_step(); }

private:
    std::shared_ptr<scripted_operation> of_;
};

inline shell::couchbase::service_call service_call_of(const service_wish& wish, time_point now)
{
    shell::couchbase::service_call made;
    made.operation = std::make_unique<borrowed_operation>(
        wish.operation ? wish.operation : std::make_shared<scripted_operation>());
    made.target.service = wish.service;
    made.target.operation = "query";
    made.target.idempotent = wish.idempotent;
    made.target.bucket = wish.bucket;
    made.target.only = wish.only;
    made.began = now;
    made.until = core::deadline::after(now, wish.timeout);
    made.strategy = wish.strategy;
    return made;
}

}  // namespace holdfast::proof
