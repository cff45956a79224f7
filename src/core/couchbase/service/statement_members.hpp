#pragma once
#include "core/couchbase/service/body_members.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/service_options.hpp"

#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// The last changes that a query must have seen, by bucket and vbucket.
std::string scan_vectors_of(const holdfast::couchbase::mutation_state& state);

/// The same for an index of search, as the member "consistency" of "ctl".
std::string search_consistency_of(std::string_view index,
                                  const holdfast::couchbase::mutation_state& state);

/// The statement as JSON; errc::invalid_argument if it is empty or not UTF-8.
result<std::string> statement_json_of(std::string_view statement);

}  // namespace holdfast::core::couchbase
