#pragma once
#include "core/couchbase/service/prepared_cache.hpp"
#include "core/couchbase/service/service_request.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// What a statement is sent with besides its options.
struct statement_target {
    std::string_view bucket = {};  // both, or none: the query of a scope
    std::string_view scope = {};
    std::string_view client_context_id = {};  // if the options have none
};

enum class query_form : std::uint8_t {
    plain,                // the statement as it is
    prepare_and_execute,  // one request does both, and the metadata of its reply names the plan
    prepare,              // for older servers: the only row of the reply is the plan
    execute,              // the plan
};

/// A query that owns all it needs, however often it is sent.
struct query_order {
    std::string statement = {};
    std::string query_context = {};  // with the statement, the key of the cache
    std::string client_context_id = {};
    bool prepared = false;
    bool readonly = false;
    bool own_timeout = true;  // false: it is among the raw options
    std::string statement_json = {};
    std::string members = {};  // of the body: all but statement, plan and timeout

    /// For one attempt, which has `time_left`. `plan` is for query_form::execute alone.
    service_request request(query_form form, const prepared_plan* plan,
                            std::chrono::milliseconds time_left) const;
};

/// Fails with errc::invalid_argument for what no server could take, and with the error of a
/// parameter that could not be encoded.
result<query_order> make_query(std::string_view statement,
                               const holdfast::couchbase::query_options& options,
                               const statement_target& target);

/// The forms of one query over its attempts. A node that keeps losing the plan must not keep us
/// preparing for ever: after some rounds the statement goes out as it is.
class query_run {
public:
    /// `enhanced`: the server can prepare and execute in one request (can_prepare_and_execute()).
    query_run(bool prepared, bool enhanced) noexcept : prepared_{prepared}, enhanced_{enhanced} {}

    /// The form of the next request, from what the cache has by now.
    query_form next(const prepared_plan* cached) const noexcept;

    /// An attempt failed with QUERY_PREPARED_STATEMENT_FAILURE: its plan is to be dropped from the
    /// cache as well.
    void plan_was_refused() noexcept { ++failures_; }

    /// For classify_query().
    std::uint32_t prepared_failures() const noexcept { return failures_; }

private:
    bool prepared_;
    bool enhanced_;
    std::uint32_t failures_ = 0;
};

/// The plan in the metadata of a reply to query_form::prepare_and_execute, if there is one.
std::optional<prepared_plan> plan_in_metadata(std::string_view metadata);

/// The plan in the row of a reply to query_form::prepare.
result<prepared_plan> plan_in_row(std::string_view row);

}  // namespace holdfast::core::couchbase
