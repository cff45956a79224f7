#pragma once
#include "core/couchbase/retry/classification.hpp"
#include "core/couchbase/retry/classify_http.hpp"
#include "holdfast/couchbase/service_metadata.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::core::couchbase {

/// The array of a reply that holds its rows; empty for services without rows.
std::string_view rows_array_of(service_type service) noexcept;

/// Whether a reply with that status goes through a row_splitter. The body of any other is
/// collected, up to max_error_body bytes, and classified.
constexpr bool has_rows(int status) noexcept
{
    return status == 200;
}
inline constexpr std::size_t max_error_body = std::size_t{1} << 20;  // the rest is not read

struct service_reply {
    service_type service = service_type::query;
    int status = 0;
    std::string_view body = {};  // of a reply with rows its metadata
};

/// The failure that a reply reports: by its status, or within a reply with rows that is complete.
/// Nothing: it is a success. The error has the context "http_status", and of query and analytics
/// "service_code" and "service_message".
std::optional<classification> failure_in(const service_reply& reply,
                                         const failed_statement& of = {});

/// Metadata of a complete reply. What is not as it should be is left out.
holdfast::couchbase::query_metadata read_query_metadata(std::string_view text);
holdfast::couchbase::search_metadata read_search_metadata(std::string_view text);
holdfast::couchbase::view_metadata read_view_metadata(std::string_view text);

/// Entries of each list in metadata, so that a server cannot make it long.
inline constexpr std::size_t max_metadata_entries = 256;

}  // namespace holdfast::core::couchbase
