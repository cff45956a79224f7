#pragma once
#include "core/couchbase/retry/names.hpp"
#include "core/couchbase/service/service_idempotent.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

inline constexpr std::string_view json_content = "application/json";
inline constexpr std::string_view form_content = "application/x-www-form-urlencoded";

struct service_header {
    std::string name = {};
    std::string value = {};

    friend bool operator==(const service_header&, const service_header&) = default;
};

/// One attempt's request to a service, whichever node it goes to. Host, credentials, user agent and
/// length are added by what sends it.
struct service_request {
    service_type service = service_type::management;
    http_method method = http_method::get;
    std::string path = "/";  // as it is sent: escaped, with its query string
    std::string_view content_type = {};  // empty: no body
    std::vector<service_header> headers = {};
    std::string body = {};
    bool idempotent = false;
    std::string_view operation = {};  // "query": a literal, for errors, events and logs
};

}  // namespace holdfast::core::couchbase
