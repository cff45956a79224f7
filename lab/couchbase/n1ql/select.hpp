#pragma once
#include "lab/couchbase/n1ql/run.hpp"

#include <memory>

namespace holdfast::lab::couchbase::n1ql {

result<std::unique_ptr<running>> start_select(const select_statement& what, datastore& on,
                                              environment& in);

}  // namespace holdfast::lab::couchbase::n1ql
