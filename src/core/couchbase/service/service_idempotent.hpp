#pragma once
#include "holdfast/couchbase/service_options.hpp"

#include <optional>

namespace holdfast::core::couchbase {

using holdfast::couchbase::http_method;

/// A statement may do anything, unless the user has said that it only reads and the server holds
/// him to it.
struct query_request { std::optional<bool> readonly = {}; };
struct analytics_request { std::optional<bool> readonly = {}; };
struct search_request {};  // sent by POST, but only reads
struct view_request {};
struct management_request { http_method method; };  // cluster manager, too

constexpr bool is_idempotent(query_request query) noexcept
{
    return query.readonly == true;
}
constexpr bool is_idempotent(analytics_request query) noexcept
{
    return query.readonly == true;
}
constexpr bool is_idempotent(search_request) noexcept
{
    return true;
}
constexpr bool is_idempotent(view_request) noexcept
{
    return true;
}
constexpr bool is_idempotent(management_request request) noexcept
{
    return request.method == http_method::get;
}

}  // namespace holdfast::core::couchbase
