#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/n1ql/statement.hpp"

#include <cstddef>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql {

/// Of the analytics service, which has statements and names of its own.
enum class dialect : std::uint8_t { query, analytics };

/// Deeper expressions are refused.
inline constexpr std::size_t deepest_expression = 100;

/// Errors are query_code::syntax, with the place in the statement.
result<statement_ptr> parse(std::string_view text, dialect in = dialect::query);

/// "default:`travel`.`inventory`", as query_context has it.
result<keyspace_name> parse_context(std::string_view text);

}  // namespace holdfast::lab::couchbase::n1ql
