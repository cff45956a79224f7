#pragma once
#include "core/couchbase/service/query.hpp"
#include "core/couchbase/service/service_request.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// A statement for the analytics service, however often it is sent.
struct analytics_order {
    std::string client_context_id = {};
    bool readonly = false;
    bool has_priority = false;
    bool own_timeout = true;  // false: it is among the raw options
    std::string members = {};  // of the body: all but the timeout

    service_request request(std::chrono::milliseconds time_left) const;
};

/// See make_query().
result<analytics_order> make_analytics(std::string_view statement,
                                       const holdfast::couchbase::analytics_options& options,
                                       const statement_target& target);

}  // namespace holdfast::core::couchbase
