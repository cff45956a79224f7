#pragma once
#include "holdfast/error.hpp"
#include "holdfast/json/raw_json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the services report besides rows. It is complete once all rows were read.
namespace holdfast::couchbase {

using holdfast::raw_json;

enum class query_status : std::uint8_t {
    unknown,
    running,
    success,
    errors,
    completed,
    stopped,
    timeout,
    closed,
    fatal,
    aborted,
};

/// "success"
std::string_view name_of(query_status status) noexcept;

struct query_warning {
    std::int64_t code = 0;
    std::string message = {};

    friend bool operator==(const query_warning&, const query_warning&) = default;
};

/// Zero is also what the server did not report.
struct query_metrics {
    duration elapsed_time{};
    duration execution_time{};
    std::uint64_t result_count = 0;
    std::uint64_t result_size = 0;
    std::uint64_t sort_count = 0;
    std::uint64_t mutation_count = 0;
    std::uint64_t error_count = 0;
    std::uint64_t warning_count = 0;
    std::uint64_t processed_objects = 0;  // by analytics

    friend bool operator==(const query_metrics&, const query_metrics&) = default;
};

/// Of the query and the analytics service.
struct query_metadata {
    std::string request_id = {};
    std::string client_context_id = {};
    query_status status = query_status::unknown;
    query_metrics metrics = {};
    std::vector<query_warning> warnings = {};  // 256 at most
    raw_json signature = {};  // the shape of the rows; empty if there is none
    raw_json profile = {};  // if it was asked for

    friend bool operator==(const query_metadata&, const query_metadata&) = default;
};

/// A part of a search index that could not be searched: the rows lack what it has.
struct search_partition_error {
    std::string partition = {};
    std::string message = {};

    friend bool operator==(const search_partition_error&, const search_partition_error&) = default;
};

struct search_metadata {
    std::uint64_t total_hits = 0;  // also those beyond the limit of the request
    double max_score = 0;
    duration took{};
    std::uint64_t partitions = 0;
    std::uint64_t successful_partitions = 0;
    std::uint64_t failed_partitions = 0;
    std::vector<search_partition_error> errors = {};  // 256 at most
    raw_json facets = {};  // an object by the names of the request; empty if none were asked for

    friend bool operator==(const search_metadata&, const search_metadata&) = default;
};

/// A node that could not contribute to the rows of a view.
struct view_error {
    std::string from = {};
    std::string reason = {};

    friend bool operator==(const view_error&, const view_error&) = default;
};

struct view_metadata {
    std::uint64_t total_rows = 0;  // of the whole view
    std::vector<view_error> errors = {};  // 256 at most
    raw_json debug = {};

    friend bool operator==(const view_metadata&, const view_metadata&) = default;
};

}  // namespace holdfast::couchbase
