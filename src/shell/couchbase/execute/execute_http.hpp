#pragma once
#include "shell/couchbase/execute/cluster_state.hpp"
#include "shell/couchbase/execute/service_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::shell::couchbase {

/// A reply that was read to its end.
struct whole_reply {
    int status = 0;
    std::string content_type = {};
    std::string body = {};
    endpoint server = {};
};

inline constexpr std::size_t longest_whole_body = std::size_t{64} << 20;

/// Carries out an operation whose reply is wanted as a whole, with all retries it is entitled to.
runtime::awaitable<result<whole_reply>> execute_http(std::shared_ptr<cluster_state> cluster,
                                                     service_call call);

}  // namespace holdfast::shell::couchbase
