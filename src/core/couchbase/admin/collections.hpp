#pragma once
#include "core/couchbase/admin/admin_order.hpp"
#include "holdfast/couchbase/admin_options.hpp"

#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

using holdfast::couchbase::collection_settings;
using holdfast::couchbase::scope_info;

/// The place of a collection by names; a scope has none of its own.
struct collection_name {
    std::string_view bucket = {};
    std::string_view scope = {};
    std::string_view collection = {};
};

result<admin_order<void>> create_scope(const collection_name& what);
result<admin_order<void>> drop_scope(const collection_name& what);
result<admin_order<std::vector<scope_info>>> get_all_scopes(std::string_view bucket);
result<admin_order<void>> create_collection(const collection_name& what,
                                            const collection_settings& settings);
result<admin_order<void>> update_collection(const collection_name& what,
                                            const collection_settings& settings);
result<admin_order<void>> drop_collection(const collection_name& what);

}  // namespace holdfast::core::couchbase
