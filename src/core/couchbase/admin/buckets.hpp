#pragma once
#include "core/couchbase/admin/admin_order.hpp"
#include "holdfast/couchbase/admin_options.hpp"

#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

using holdfast::couchbase::bucket_info;
using holdfast::couchbase::bucket_settings;

result<admin_order<void>> create_bucket(std::string_view name, const bucket_settings& settings);
result<admin_order<void>> update_bucket(std::string_view name, const bucket_settings& settings);
result<admin_order<void>> drop_bucket(std::string_view name);
result<admin_order<void>> flush_bucket(std::string_view name);
result<admin_order<bucket_info>> get_bucket(std::string_view name);
admin_order<std::vector<bucket_info>> get_all_buckets();

}  // namespace holdfast::core::couchbase
