#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::couchbase {

/// Why a request might be sent again. Names as in the SDKs' RFC 0049, in our case.
enum class retry_reason : std::uint8_t {
    unknown,
    socket_not_available,
    service_not_available,
    node_not_available,
    kv_not_my_vbucket,
    kv_collection_outdated,
    kv_error_map_retry_indicated,
    kv_locked,
    kv_temporary_failure,
    kv_sync_write_in_progress,
    kv_sync_write_re_commit_in_progress,
    service_response_code_indicated,
    socket_closed_while_in_flight,
    circuit_breaker_open,
    query_prepared_statement_failure,
    query_index_not_found,
    analytics_temporary_failure,
    search_too_many_requests,
    views_temporary_failure,
    views_no_active_partition,
    authentication_error,
    tls_error,
    bucket_access_error,
    scope_not_found,
    collection_not_found,
};

struct retry_reason_traits {
    retry_reason reason;
    std::string_view name;             // as the RFC writes it, for logs and errors
    bool allows_non_idempotent_retry;  // nothing was changed on the server, so any request is safe
    bool always_retry;  // the library retries by itself; no strategy is asked
};

/// All reasons in the order of the enumeration.
///
/// The RFC leaves the flags of the last five open. They stand for facts that keep a request from
/// being sent at all, so a repeated request cannot change anything twice: the first flag is true.
/// Were the second one true as well, no strategy would ever hear of them, and to fail fast on them
/// is what they were invented for.
inline constexpr retry_reason_traits retry_reason_table[] = {
    {retry_reason::unknown, "UNKNOWN", false, false},
    {retry_reason::socket_not_available, "SOCKET_NOT_AVAILABLE", true, false},
    {retry_reason::service_not_available, "SERVICE_NOT_AVAILABLE", true, false},
    {retry_reason::node_not_available, "NODE_NOT_AVAILABLE", true, false},
    {retry_reason::kv_not_my_vbucket, "KV_NOT_MY_VBUCKET", true, true},
    {retry_reason::kv_collection_outdated, "KV_COLLECTION_OUTDATED", true, true},
    {retry_reason::kv_error_map_retry_indicated, "KV_ERROR_MAP_RETRY_INDICATED", true, false},
    {retry_reason::kv_locked, "KV_LOCKED", true, false},
    {retry_reason::kv_temporary_failure, "KV_TEMPORARY_FAILURE", true, false},
    {retry_reason::kv_sync_write_in_progress, "KV_SYNC_WRITE_IN_PROGRESS", true, false},
    {retry_reason::kv_sync_write_re_commit_in_progress, "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", true,
     false},
    {retry_reason::service_response_code_indicated, "SERVICE_RESPONSE_CODE_INDICATED", true, false},
    {retry_reason::socket_closed_while_in_flight, "SOCKET_CLOSED_WHILE_IN_FLIGHT", false, false},
    {retry_reason::circuit_breaker_open, "CIRCUIT_BREAKER_OPEN", true, false},
    {retry_reason::query_prepared_statement_failure, "QUERY_PREPARED_STATEMENT_FAILURE", true,
     false},
    {retry_reason::query_index_not_found, "QUERY_INDEX_NOT_FOUND", true, false},
    {retry_reason::analytics_temporary_failure, "ANALYTICS_TEMPORARY_FAILURE", true, false},
    {retry_reason::search_too_many_requests, "SEARCH_TOO_MANY_REQUESTS", true, false},
    {retry_reason::views_temporary_failure, "VIEWS_TEMPORARY_FAILURE", true, false},
    {retry_reason::views_no_active_partition, "VIEWS_NO_ACTIVE_PARTITION", true, true},
    {retry_reason::authentication_error, "AUTHENTICATION_ERROR", true, false},
    {retry_reason::tls_error, "TLS_ERROR", true, false},
    {retry_reason::bucket_access_error, "BUCKET_ACCESS_ERROR", true, false},
    {retry_reason::scope_not_found, "SCOPE_NOT_FOUND", true, false},
    {retry_reason::collection_not_found, "COLLECTION_NOT_FOUND", true, false},
};

inline constexpr std::size_t retry_reason_count = std::size(retry_reason_table);
static_assert([] {
    for (std::size_t i = 0; i < retry_reason_count; ++i)
        if (static_cast<std::size_t>(retry_reason_table[i].reason) != i)
            return false;
    return true;
}());

/// A value that is none of the enumeration is as good as unknown.
constexpr const retry_reason_traits& traits_of(retry_reason reason) noexcept
{
    const auto at = static_cast<std::size_t>(reason);
    return retry_reason_table[at < retry_reason_count ? at : 0];
}
constexpr std::string_view name_of(retry_reason reason) noexcept
{
    return traits_of(reason).name;
}
constexpr bool allows_non_idempotent_retry(retry_reason reason) noexcept
{
    return traits_of(reason).allows_non_idempotent_retry;
}
constexpr bool always_retry(retry_reason reason) noexcept
{
    return traits_of(reason).always_retry;
}

/// The reasons a request has met, each once, in the order in which they first appeared.
class retry_reason_set {
public:
    constexpr void insert(retry_reason reason) noexcept
    {
        reason = traits_of(reason).reason;  // so that there is room for every one of them
        if (!contains(reason))
            reasons_[size_++] = reason;
    }
    constexpr bool contains(retry_reason reason) const noexcept
    {
        return std::ranges::find(*this, reason) != end();
    }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr const retry_reason* begin() const noexcept { return reasons_.data(); }
    constexpr const retry_reason* end() const noexcept { return reasons_.data() + size_; }

private:
    std::array<retry_reason, retry_reason_count> reasons_{};
    std::size_t size_ = 0;
};

}  // namespace holdfast::couchbase
