#pragma once
#include "core/couchbase/config/cluster_config.hpp"
#include "core/couchbase/retry/classification.hpp"
#include "core/couchbase/service/service_request.hpp"
#include "core/retry/deadline.hpp"
#include "holdfast/couchbase/retry.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::shell::couchbase {

/// The attempt that a request is built for.
struct attempt_view {
    std::chrono::milliseconds time_left{};  // of the operation; at least 1 ms
    const core::couchbase::cluster_config& config;  // in use: capabilities
};

struct service_reply_view {
    int status = 0;
    std::string_view content_type = {};
    std::string_view location = {};
    /// The whole body, or its first part if it is too long; of a reply with rows its metadata.
    std::string_view body = {};
};

/// What attempts need to know of one operation of a service. Its members are called by one
/// coroutine at a time, and do not block.
class service_operation {
public:
    virtual ~service_operation() = default;

    /// The request of the next attempt. An error ends the operation.
    virtual result<core::couchbase::service_request> request(const attempt_view& of) = 0;

    /// Nothing: the reply is a success. A classification with a reason is for the orchestrator.
    virtual std::optional<core::couchbase::classification> classify(
        const service_reply_view& reply) = 0;

    /// Whether the reply to the request that was built last is a step only: it is read as a whole,
    /// and if it is a success the next request follows in the same attempt.
    virtual bool is_step() const { return false; }
};

/// What stays the same over all attempts.
struct service_target {
    core::couchbase::service_type service = core::couchbase::service_type::query;
    std::string operation = {};  // "query": for people
    bool idempotent = false;
    std::string bucket = {};  // for errors; and views go to nodes that have it
    std::string scope = {};
    std::optional<endpoint> only = {};  // that node and no other: a ping
};

struct service_call {
    std::unique_ptr<service_operation> operation = {};
    service_target target = {};
    core::deadline until = {};
    time_point began{};
    holdfast::couchbase::retry_strategy_ptr strategy = {};  // null: the cluster's
    std::shared_ptr<const holdfast::couchbase::client_context> context = {};
};

}  // namespace holdfast::shell::couchbase
