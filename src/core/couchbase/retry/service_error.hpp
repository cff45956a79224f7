#pragma once
#include "core/couchbase/retry/classification.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// The first entry of "errors" in a body of query or analytics.
struct service_error {
    std::int64_t code = 0;
    std::string message = {};
    bool retry = false;  // the service says that it may be sent again
    std::optional<std::int64_t> reason = {};  // the code of a deeper cause
};

/// errc::decoding_failure if there is none.
result<service_error> first_service_error(std::string_view body);

/// The error that all SDKs have for it (their RFC 0058). A timeout of the server is one of ours,
/// ambiguous unless the statement is idempotent.
errc query_error_of(const service_error& found, bool idempotent);
errc analytics_error_of(const service_error& found, bool idempotent);

/// 4040 is also sent for a keyspace that does not exist, and no new plan will make it exist.
bool is_missing_keyspace(const service_error& found);

}  // namespace holdfast::core::couchbase
