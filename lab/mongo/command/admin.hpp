#pragma once
#include "lab/mongo/node/command.hpp"

namespace holdfast::lab::mongo {

result<progress> run_fsync(node& on, request& what, bson::builder& reply);
result<progress> run_current_op(node& on, request& what, bson::builder& reply);
result<progress> run_kill_op(node& on, request& what, bson::builder& reply);
result<progress> run_log_rotate(node& on, request& what, bson::builder& reply);
result<progress> run_profile(node& on, request& what, bson::builder& reply);
result<progress> run_map_reduce(node& on, request& what, bson::builder& reply);
result<progress> run_search_index(node& on, request& what, bson::builder& reply);
result<progress> run_test_version(node& on, request& what, bson::builder& reply);

}  // namespace holdfast::lab::mongo
