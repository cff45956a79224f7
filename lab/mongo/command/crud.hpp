#pragma once
#include "lab/mongo/node/command.hpp"

namespace holdfast::lab::mongo {

result<progress> run_insert(node& on, request& what, bson::builder& reply);
result<progress> run_update(node& on, request& what, bson::builder& reply);
result<progress> run_delete(node& on, request& what, bson::builder& reply);
result<progress> run_find_and_modify(node& on, request& what, bson::builder& reply);
result<progress> run_bulk_write(node& on, request& what, bson::builder& reply);
result<progress> run_find(node& on, request& what, bson::builder& reply);
result<progress> run_get_more(node& on, request& what, bson::builder& reply);
result<progress> run_kill_cursors(node& on, request& what, bson::builder& reply);
result<progress> run_aggregate(node& on, request& what, bson::builder& reply);
result<progress> run_count(node& on, request& what, bson::builder& reply);
result<progress> run_distinct(node& on, request& what, bson::builder& reply);
result<progress> run_explain(node& on, request& what, bson::builder& reply);

}  // namespace holdfast::lab::mongo
