#pragma once
#include "core/mongo/retry/classify.hpp"
#include "holdfast/bson/view.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::core::mongo {

/// What every reply is asked for, found in one walk. Lies where the reply lies.
struct reply_glance {
    bson::view reply;
    bson::element ok = {};
    bson::element concern_error = {};
    bson::element cluster_time = {};
    bson::element operation_time = {};
};
reply_glance glance_at(bson::view reply) noexcept;

/// The failure that a reply reports, if any: of the command itself, or of the write concern of a
/// command that was carried out. Errors of single statements ("writeErrors") are results, not
/// failures: the application gets them, and they are never retried. Points into the reply.
std::optional<failed_attempt> failure_in(const reply_glance& seen, std::int32_t max_wire_version,
                                         bool sharded);
inline std::optional<failed_attempt> failure_in(bson::view reply, std::int32_t max_wire_version,
                                                bool sharded = false)
{
    return failure_in(glance_at(reply), max_wire_version, sharded);
}

}  // namespace holdfast::core::mongo
