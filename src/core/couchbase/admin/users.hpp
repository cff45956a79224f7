#pragma once
#include "core/couchbase/admin/admin_order.hpp"
#include "holdfast/couchbase/admin_options.hpp"

#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

using holdfast::couchbase::role_info;
using holdfast::couchbase::user_info;
using holdfast::couchbase::user_settings;

result<admin_order<void>> upsert_user(std::string_view name, const user_settings& settings);
result<admin_order<void>> drop_user(std::string_view name);
result<admin_order<user_info>> get_user(std::string_view name);
admin_order<std::vector<user_info>> get_all_users();
admin_order<std::vector<role_info>> get_roles();
result<admin_order<void>> change_password(std::string_view password);

}  // namespace holdfast::core::couchbase
