#pragma once
#include "lab/couchbase/http/message.hpp"
#include "lab/fault/fault_plan.hpp"

#include <cstddef>
#include <functional>
#include <string_view>

namespace holdfast::lab::couchbase {

/// A request of HTTP, as faults choose it.
struct http_target {
    std::string_view service;  // as in configurations
    const http_request& request;
};

/// With an answer, or with `close_connection`, the request is not carried out.
struct http_fault : fault {
    std::function<http_reply(const http_request&)> answer = {};  // instead of the service's
    bool silent = false;                                         // there is no reply
    std::size_t chunk_size = 0;  // not 0: of the reply, whatever it would be in
};

using http_fault_plan = fault_plan<http_target, http_fault>;

}  // namespace holdfast::lab::couchbase
