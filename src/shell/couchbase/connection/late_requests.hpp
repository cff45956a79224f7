#pragma once
#include "shell/couchbase/connection/kv_connection.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::shell::couchbase {

/// Requests in flight on one connection whose vbuckets have left its node, so that no reply may
/// come to them.
class late_requests {
public:
    /// Those for one of these vbuckets that have no reply yet.
    late_requests(std::shared_ptr<kv_connection> on, const std::vector<bool>& vbuckets);

    bool empty() const noexcept { return opaques_.empty(); }
    const kv_connection& connection() const noexcept { return *on_; }
    /// Whether one of them still has no reply.
    bool are_in_flight() const;
    /// Those that have none get this error, as if the connection had ended.
    void give_up(error why) const;

private:
    std::shared_ptr<kv_connection> on_;
    std::vector<std::uint32_t> opaques_;
};

}  // namespace holdfast::shell::couchbase
