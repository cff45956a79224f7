#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/n1ql/index_catalog.hpp"
#include "lab/couchbase/n1ql/statement.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// A statement that was prepared.
struct query_plan {
    n1ql::statement_ptr of = {};
    std::string context = {};  // the query_context that it was prepared in
};

inline constexpr std::size_t most_plans = 16'384;  // of a node

/// What the query services of a cluster keep.
struct query_definitions final : service_definitions {
    n1ql::index_catalog indexes = {};
    bool needs_index = false;  // whether a scan needs one that is built
    /// By node and name. They end with the process of the node.
    std::map<std::size_t, std::map<std::string, query_plan, std::less<>>> plans = {};
    /// Requests under way, by node.
    std::map<std::size_t, std::shared_ptr<std::size_t>> running = {};

    std::shared_ptr<std::size_t> counter(std::size_t node);
};

query_definitions& query_definitions_of(cluster& of);

/// "[127.0.0.1:8091]1f2e...": with the node that has prepared it, where others find it.
std::string plan_name(cluster& of, std::size_t node, const query_plan& plan);
/// Of a node, or of the one that the name says; null if neither has it, or it was prepared in
/// another context.
const query_plan* find_plan(cluster& of, std::size_t node, std::string_view name,
                            std::string_view context);
void keep_plan(cluster& of, std::size_t node, const std::string& name, query_plan plan);

/// As clients without "enhanced" prepared statements send it back.
std::string encode_plan(const query_plan& plan);
result<query_plan> decode_plan(std::string_view encoded);

}  // namespace holdfast::lab::couchbase
