#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/http/message.hpp"
#include "lab/couchbase/index/index_copy.hpp"
#include "lab/couchbase/n1ql/statement.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

enum class scan_consistency : std::uint8_t { not_bounded, request_plus, at_plus };

/// What a client asks of the query or the analytics service.
struct query_request {
    std::string statement = {};
    std::string prepared = {};  // the name of a plan; empty: there is a statement
    std::string encoded_plan = {};
    std::string client_context_id = {};
    std::string query_context = {};  // as it was sent
    std::optional<n1ql::keyspace_name> context = {};
    boost::json::object named = {};
    boost::json::array positional = {};
    std::optional<std::chrono::nanoseconds> timeout = {};
    std::optional<std::chrono::nanoseconds> scan_wait = {};
    scan_consistency consistency = scan_consistency::not_bounded;
    /// Of at_plus, by bucket; an empty name: the one of the statement.
    std::map<std::string, index_positions> vectors = {};
    std::string profile = {};  // empty: off
    bool readonly = false;
    bool metrics = true;
    bool signature = true;
    bool auto_execute = false;
    bool preserve_expiry = false;
};

/// Of a body that is JSON or a form. Errors are those of the query service.
result<query_request> read_query_request(const http_request& from);

/// The id of the request, also if all else in it is wrong; empty if there is none.
std::string client_context_id_of(const http_request& from);

/// "75000ms", "1m30s" as servers write durations.
std::optional<std::chrono::nanoseconds> read_duration(std::string_view text);
std::string duration_text(std::chrono::nanoseconds of);

}  // namespace holdfast::lab::couchbase
