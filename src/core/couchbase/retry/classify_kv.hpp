#pragma once
#include "core/couchbase/retry/classification.hpp"
#include "core/couchbase/retry/kv_error_map.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"

namespace holdfast::core::couchbase {

struct kv_retry_rule {
    kv_status status;
    retry_reason reason;
};

/// The statuses after which a command may be sent again, on all commands but for the exceptions in
/// classify_kv().
inline constexpr kv_retry_rule kv_retry_rules[] = {
    {kv_status::not_my_vbucket, retry_reason::kv_not_my_vbucket},
    {kv_status::unknown_collection, retry_reason::kv_collection_outdated},
    {kv_status::unknown_scope, retry_reason::kv_collection_outdated},
    {kv_status::config_only, retry_reason::service_response_code_indicated},
    {kv_status::locked, retry_reason::kv_locked},
    {kv_status::temporary_failure, retry_reason::kv_temporary_failure},
    {kv_status::sync_write_in_progress, retry_reason::kv_sync_write_in_progress},
    {kv_status::sync_write_re_commit_in_progress,
     retry_reason::kv_sync_write_re_commit_in_progress},
};

/// Whether the library knows a status by itself, without the server's error map.
bool is_known(kv_status status);

/// The meaning of an answer to `command`. The map is consulted only for a status that is not known.
classification classify_kv(kv_opcode command, kv_status status, const kv_error_map* map = nullptr);

}  // namespace holdfast::core::couchbase
