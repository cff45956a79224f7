#pragma once
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/couchbase/retry_reason.hpp"

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

}  // namespace holdfast::core::couchbase
