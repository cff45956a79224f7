#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/http/message.hpp"
#include "lab/couchbase/n1ql/run.hpp"
#include "runtime/world.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// An error as a reply shows it.
struct shown_error {
    std::int32_t code = 0;
    std::string text = {};
    std::optional<bool> retry = {};
    std::int32_t reason = 0;  // not 0: what went wrong with a document
};

/// What differs between the query and the analytics service.
struct reply_style {
    shown_error (*show)(const error& of);
    int (*status)(std::int32_t code);  // of HTTP; 0: it depends on whether the request has run
    std::string_view (*usual_text)(std::int32_t code);
    std::int32_t timeout_code;
    std::string_view timeout_state;
    bool is_analytics;  // which has other metrics and one signature for all
};

extern const reply_style query_style;

/// Of a reply: what is known before it begins.
struct reply_facts {
    std::string client_context_id = {};
    std::string prepared = {};  // the name of the plan; empty: it is not shown
    bool metrics = true;
    bool signature = true;
    std::string profile = {};
};

/// The text of a reply, with its members in the order of a server.
class query_reply {
public:
    query_reply(const reply_style& style, reply_facts facts, runtime::world& in);

    /// Up to the begin of the rows.
    std::string head(const n1ql::json::value& signature) const;
    /// What stands before a row.
    std::string_view before_row() const noexcept { return rows_ == 0 ? "\n" : ",\n"; }
    void count_row(std::size_t bytes) noexcept;
    std::size_t rows() const noexcept { return rows_; }
    /// From the end of the rows on.
    std::string tail(std::string_view state, const std::vector<shown_error>& errors,
                     const n1ql::run_counts& counts) const;
    /// Of a request that never ran.
    std::string refusal(const shown_error& reason) const;

private:
    std::string begin() const;
    std::string end(std::string_view state, const std::vector<shown_error>& errors,
                    const n1ql::run_counts& counts) const;
    std::string metrics(std::size_t errors, const n1ql::run_counts& counts) const;

    const reply_style& style_;
    reply_facts facts_;
    runtime::world& world_;
    time_point began_;
    std::string id_;
    std::size_t rows_ = 0;
    std::size_t bytes_ = 0;
};

/// A reply of its own to a request that never ran.
http_reply refused_query(const reply_style& style, reply_facts facts, runtime::world& in,
                         const shown_error& reason);

}  // namespace holdfast::lab::couchbase
