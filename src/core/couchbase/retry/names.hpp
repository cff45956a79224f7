#pragma once
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/couchbase/retry_reason.hpp"

#include <string_view>

namespace holdfast::core::couchbase {

// What users see of the retry system is declared in include/holdfast/couchbase and needs no prefix
// here. It is all values and one interface, without Asio, so the core may use it as it is.
using holdfast::couchbase::errc;
using holdfast::couchbase::retry_action;
using holdfast::couchbase::retry_answer;
using holdfast::couchbase::retry_reason;
using holdfast::couchbase::retry_reply;
using holdfast::couchbase::retry_request;
using holdfast::couchbase::retry_strategy;
using holdfast::couchbase::service_type;

/// What observers and reports on slow requests call a service, as those of other clients do.
constexpr std::string_view observed_name(service_type service) noexcept
{
    switch (service) {
    case service_type::key_value: return "kv";
    case service_type::query: return "query";
    case service_type::analytics: return "analytics";
    case service_type::search: return "search";
    case service_type::views: return "views";
    case service_type::management: break;
    }
    return "management";
}

}  // namespace holdfast::core::couchbase
