#pragma once
#include "lab/couchbase/http/message.hpp"
#include "lab/fault/fault_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// A request of HTTP, as faults choose it.
struct http_target {
    std::string_view service;  // as in configurations
    const http_request& request;
};

/// Where parts of a reply end.
enum class reply_split : std::uint8_t {
    anywhere,
    in_utf8,    // inside of each character of several bytes
    in_escape,  // behind each backslash
};

/// What a service that gives rows does to a reply.
struct row_fault {
    std::int32_t error_code = 0;  // not 0: of an error in the reply
    std::string error_text = {};  // its message; empty: the usual one
    std::optional<bool> retry = {};  // its member "retry"
    std::optional<std::size_t> after_rows = {};  // when it comes; none: the request does not run
    std::optional<std::size_t> cut_after_rows = {};  // then the connection is closed
    reply_split split = reply_split::anywhere;
};

/// With an answer, or with `close_connection`, the request is not carried out.
struct http_fault : fault {
    std::function<http_reply(const http_request&)> answer = {};  // instead of the service's
    bool silent = false;                                         // there is no reply
    std::size_t chunk_size = 0;  // not 0: of the reply, whatever it would be in
    row_fault rows = {};
};

using http_fault_plan = fault_plan<http_target, http_fault>;

}  // namespace holdfast::lab::couchbase
