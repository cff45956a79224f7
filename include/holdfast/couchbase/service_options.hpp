#pragma once
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/query_parameters.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What may be said of requests to the services: query, analytics, search, views, management.
/// Everything is copied by the call, so views of temporaries are fine. What they have in common:
///   timeout            of the whole request with all its retries and rows; empty: that of the
///                      cluster for the service
///   client_context_id  is shown in the server's logs and listings; empty: one is made up
///   raw                members of the request's JSON that have no option here; they win
///   strategy, context  as in kv_options.hpp
namespace holdfast::couchbase {

using std::chrono::milliseconds;

/// A member of the JSON of a request: {"use_cbo", "false"}.
struct raw_option {
    std::string_view name = {};
    std::string_view json = {};
};
static_assert(option_struct<raw_option>);

/// What a query must have seen.
enum class scan_consistency : std::uint8_t {
    not_bounded,  // whatever the index has
    request_plus,  // all changes that were made before the query was sent
};

/// How much of its own work the query service reports.
enum class profile_mode : std::uint8_t { off, phases, timings };

struct query_options {
    std::optional<milliseconds> timeout = {};
    parameters_view parameters = {};
    /// The plan of the statement is made once and kept: for statements that are sent often.
    bool prepared = false;
    /// The statement only reads, and the server refuses it if it does not: so it can be sent again
    /// when its connection was lost.
    bool readonly = false;
    couchbase::scan_consistency scan_consistency = couchbase::scan_consistency::not_bounded;
    const mutation_state* consistent_with = nullptr;  // instead of scan_consistency
    couchbase::profile_mode profile = couchbase::profile_mode::off;
    bool metrics = true;
    bool flex_index = false;
    bool preserve_expiry = false;
    std::optional<bool> use_replica = {};
    std::optional<milliseconds> scan_wait = {};
    std::optional<std::uint64_t> scan_cap = {};
    std::optional<std::uint64_t> pipeline_batch = {};
    std::optional<std::uint64_t> pipeline_cap = {};
    std::optional<std::uint64_t> max_parallelism = {};
    std::string_view client_context_id = {};
    std::span<const raw_option> raw = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
};
static_assert(option_struct<query_options>);

struct analytics_options {
    std::optional<milliseconds> timeout = {};
    parameters_view parameters = {};
    bool readonly = false;  // see query_options
    bool priority = false;  // before those that have none
    couchbase::scan_consistency scan_consistency = couchbase::scan_consistency::not_bounded;
    std::string_view client_context_id = {};
    std::span<const raw_option> raw = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
};
static_assert(option_struct<analytics_options>);

/// What is unset is left to the request, which may have it as well.
struct search_options {
    std::optional<milliseconds> timeout = {};
    std::optional<std::uint32_t> limit = {};
    std::optional<std::uint32_t> skip = {};
    bool explain = false;
    bool disable_scoring = false;
    bool include_locations = false;
    std::span<const std::string_view> fields = {};  // to be in the hits
    std::span<const std::string_view> collections = {};
    const mutation_state* consistent_with = nullptr;
    std::string_view client_context_id = {};
    std::span<const raw_option> raw = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
};
static_assert(option_struct<search_options>);

/// How old the rows of a view may be.
enum class view_consistency : std::uint8_t { not_bounded, update_after, request_plus };

enum class design_documents : std::uint8_t { production, development };

/// Keys are JSON.
struct view_options {
    std::optional<milliseconds> timeout = {};
    couchbase::view_consistency scan_consistency = couchbase::view_consistency::update_after;
    std::optional<std::uint64_t> limit = {};
    std::optional<std::uint64_t> skip = {};
    bool descending = false;
    std::optional<bool> reduce = {};
    bool group = false;
    std::optional<std::uint32_t> group_level = {};
    std::string_view key = {};
    std::span<const std::string_view> keys = {};
    std::string_view start_key = {};
    std::string_view start_key_document_id = {};
    std::string_view end_key = {};
    std::string_view end_key_document_id = {};
    bool inclusive_end = true;
    bool stop_on_error = false;  // of a node, where its rows would be left out
    bool debug = false;
    couchbase::design_documents from = couchbase::design_documents::production;
    std::string_view client_context_id = {};
    std::span<const raw_option> raw = {};  // parameters of the URL
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
};
static_assert(option_struct<view_options>);

enum class http_method : std::uint8_t { get, post, put, patch, remove };

struct http_header {
    std::string_view name = {};
    std::string_view value = {};
};
static_assert(option_struct<http_header>);

struct http_options {
    std::optional<milliseconds> timeout = {};
    std::string_view content_type = {};
    std::string_view body = {};
    std::span<const http_header> headers = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
};
static_assert(option_struct<http_options>);

}  // namespace holdfast::couchbase
