#pragma once
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/node.hpp"

namespace holdfast::lab::mongo {

/// The field serverInfo of explanations: host, port, version.
void write_server_info(const node& on, bson::builder& reply);

result<progress> run_ping(node& on, request& what, bson::builder& reply);
result<progress> run_build_info(node& on, request& what, bson::builder& reply);
result<progress> run_host_info(node& on, request& what, bson::builder& reply);
result<progress> run_server_status(node& on, request& what, bson::builder& reply);
result<progress> run_get_cmd_line_opts(node& on, request& what, bson::builder& reply);
result<progress> run_get_log(node& on, request& what, bson::builder& reply);
result<progress> run_whats_my_uri(node& on, request& what, bson::builder& reply);
result<progress> run_conn_pool_stats(node& on, request& what, bson::builder& reply);
result<progress> run_features(node& on, request& what, bson::builder& reply);
result<progress> run_list_commands(node& on, request& what, bson::builder& reply);
result<progress> run_get_parameter(node& on, request& what, bson::builder& reply);
result<progress> run_set_parameter(node& on, request& what, bson::builder& reply);
result<progress> run_configure_fail_point(node& on, request& what, bson::builder& reply);

}  // namespace holdfast::lab::mongo
