#pragma once
#include "lab/mongo/node/command.hpp"

namespace holdfast::lab::mongo {

result<progress> run_start_session(node& on, request& what, bson::builder& reply);
result<progress> run_refresh_sessions(node& on, request& what, bson::builder& reply);
result<progress> run_end_sessions(node& on, request& what, bson::builder& reply);
result<progress> run_kill_sessions(node& on, request& what, bson::builder& reply);
result<progress> run_kill_all_sessions(node& on, request& what, bson::builder& reply);
result<progress> run_transaction_end(node& on, request& what, bson::builder& reply);

}  // namespace holdfast::lab::mongo
