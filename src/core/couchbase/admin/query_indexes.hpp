#pragma once
#include "holdfast/couchbase/admin_options.hpp"
#include "holdfast/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Query indexes are administered by statements.
namespace holdfast::core::couchbase {

using holdfast::couchbase::drop_index_settings;
using holdfast::couchbase::index_keyspace;
using holdfast::couchbase::index_settings;
using holdfast::couchbase::query_index;

/// The name that servers give a primary index.
inline constexpr std::string_view primary_index_name = "#primary";

result<std::string> create_index(const index_keyspace& in, std::string_view name,
                                 std::span<const std::string_view> keys,
                                 const index_settings& settings);
result<std::string> create_primary_index(const index_keyspace& in, const index_settings& settings);
result<std::string> drop_index(const index_keyspace& in, std::string_view name);
result<std::string> drop_primary_index(const index_keyspace& in,
                                       const drop_index_settings& settings);
result<std::string> build_indexes(const index_keyspace& in, std::span<const std::string> names);

/// The indexes of a keyspace, one in a row.
result<std::string> get_all_indexes(const index_keyspace& in);

/// A row of get_all_indexes().
result<query_index> read_index(std::string_view row);

}  // namespace holdfast::core::couchbase
