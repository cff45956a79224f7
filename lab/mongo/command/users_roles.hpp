#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// A role as a user holds it. The lab knows the built-in ones by name; a user that is logged in
/// may do everything, whatever its roles.
struct role_name {
    std::string role = {};
    std::string database = {};
    friend bool operator==(const role_name&, const role_name&) = default;
};

bool is_builtin_role(std::string_view role, std::string_view database) noexcept;
std::span<const std::string_view> builtin_roles() noexcept;

/// ["read", {role: "readWrite", db: "sea"}]. 31 RoleNotFound, 14, 2.
result<std::vector<role_name>> read_roles(bson::array_view from, std::string_view database);

void write_roles(const std::vector<role_name>& roles, bson::builder& out);

}  // namespace holdfast::lab::mongo
