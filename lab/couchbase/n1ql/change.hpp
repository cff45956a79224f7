#pragma once
#include "lab/couchbase/n1ql/run.hpp"

#include <memory>

/// Statements that change documents, one document after the other.
namespace holdfast::lab::couchbase::n1ql {

result<std::unique_ptr<running>> start_insert(const insert_statement& what, datastore& on,
                                              environment& in, run_options options);
result<std::unique_ptr<running>> start_update(const update_statement& what, datastore& on,
                                              environment& in, run_options options);
result<std::unique_ptr<running>> start_delete(const delete_statement& what, datastore& on,
                                              environment& in);

}  // namespace holdfast::lab::couchbase::n1ql
