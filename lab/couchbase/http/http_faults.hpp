#pragma once
#include "lab/fault/fault_plan.hpp"

#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// A request of HTTP, as faults choose it.
struct http_target {
    std::string_view method;
    std::string_view path;
};

/// With a status (`error_code`) or `close_connection` the request is not carried out.
struct http_fault : fault {
    std::string body = {};  // of the reply with a status
    bool silent = false;    // there is no reply
};

using http_fault_plan = fault_plan<http_target, http_fault>;

}  // namespace holdfast::lab::couchbase
