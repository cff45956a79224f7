#pragma once
#include "lab/mongo/node/command.hpp"

namespace holdfast::lab::mongo {

result<progress> run_create(node& on, request& what, bson::builder& reply);
result<progress> run_coll_mod(node& on, request& what, bson::builder& reply);
result<progress> run_drop(node& on, request& what, bson::builder& reply);
result<progress> run_drop_database(node& on, request& what, bson::builder& reply);
result<progress> run_rename_collection(node& on, request& what, bson::builder& reply);
result<progress> run_list_databases(node& on, request& what, bson::builder& reply);
result<progress> run_list_collections(node& on, request& what, bson::builder& reply);
result<progress> run_list_indexes(node& on, request& what, bson::builder& reply);
result<progress> run_create_indexes(node& on, request& what, bson::builder& reply);
result<progress> run_drop_indexes(node& on, request& what, bson::builder& reply);

}  // namespace holdfast::lab::mongo
