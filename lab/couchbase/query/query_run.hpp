#pragma once
#include "lab/couchbase/http/http_faults.hpp"
#include "lab/couchbase/n1ql/run.hpp"
#include "lab/couchbase/query/cluster_store.hpp"
#include "lab/couchbase/query/query_reply.hpp"
#include "lab/couchbase/query/query_request.hpp"

#include <functional>
#include <memory>
#include <string>

namespace holdfast::lab::couchbase {

/// All that a request needs to run.
struct query_setup {
    const reply_style& style;
    query_request asked;
    reply_facts facts;
    n1ql::statement_ptr of;
    std::unique_ptr<cluster_store> store;
    node_index& index;
    runtime::world& world;
    row_fault fault = {};
    std::shared_ptr<std::size_t> running = {};  // counts it as long as it lasts
    /// Not null: the only row, instead of what the statement gives.
    n1ql::json::value row = {};
};

/// The reply to a request: whole if it is short, else part by part as the client reads; and later
/// if the index has to come as far as the request wants first.
http_reply run_query(query_setup setup);

/// The parts that a reply is sent in.
std::vector<std::string> split_reply(std::string_view text, reply_split where);

}  // namespace holdfast::lab::couchbase
