#pragma once
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/node.hpp"

#include <string_view>

namespace holdfast::lab::mongo {

/// What the stages $listLocalSessions, $currentOp, $collStats and $indexStats give.
documents local_sessions_of(const node& on);
documents current_operations_of(const node& on);
documents collection_stats_of(const node& on, std::string_view ns, bson::view spec);
documents index_stats_of(const node& on, std::string_view ns);

result<progress> run_coll_stats(node& on, request& what, bson::builder& reply);
result<progress> run_db_stats(node& on, request& what, bson::builder& reply);
result<progress> run_validate(node& on, request& what, bson::builder& reply);
result<progress> run_top(node& on, request& what, bson::builder& reply);

}  // namespace holdfast::lab::mongo
