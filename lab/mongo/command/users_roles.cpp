#include "lab/mongo/command/users_roles.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>

namespace holdfast::lab::mongo {

namespace {

constexpr std::string_view roles_of_databases[] = {"read", "readWrite", "dbAdmin", "userAdmin",
                                                   "dbOwner"};
constexpr std::string_view all_roles[] = {
    "read",
    "readWrite",
    "dbAdmin",
    "userAdmin",
    "dbOwner",
    "backup",
    "clusterAdmin",
    "clusterManager",
    "clusterMonitor",
    "directShardOperations",
    "dbAdminAnyDatabase",
    "enableSharding",
    "hostManager",
    "readAnyDatabase",
    "readWriteAnyDatabase",
    "restore",
    "root",
    "searchCoordinator",
    "userAdminAnyDatabase",
    "__queryableBackup",
    "__system",
};
constexpr std::size_t most_roles = 1000;

}  // namespace

std::span<const std::string_view> builtin_roles() noexcept
{
    return all_roles;
}

bool is_builtin_role(std::string_view role, std::string_view database) noexcept
{
    if (database == "admin")
        return std::ranges::find(all_roles, role) != std::end(all_roles);
    return std::ranges::find(roles_of_databases, role) != std::end(roles_of_databases);
}

result<std::vector<role_name>> read_roles(bson::array_view from, std::string_view database)
{
    std::vector<role_name> roles;
    for (const bson::element& e : from) {
        role_name one;
        if (e.type() == bson::type::string) {
            one.role = e.as_string();
            one.database = database;
        } else if (e.type() == bson::type::document) {
            const bson::element role = e.as_document().find("role");
            const bson::element where = e.as_document().find("db");
            if (role.type() != bson::type::string || where.type() != bson::type::string)
                return refuse(server_code::bad_value,
                              "Role names must have string fields \"role\" and \"db\"");
            one.role = role.as_string();
            one.database = where.as_string();
        } else {
            return refuse(server_code::bad_value, "Role names must be either strings or objects");
        }
        if (!is_builtin_role(one.role, one.database))
            return refuse(31, "Could not find role: " + one.role + "@" + one.database);
        if (std::ranges::find(roles, one) == roles.end())
            roles.push_back(std::move(one));
        if (roles.size() > most_roles)
            return refuse(server_code::bad_value, "too many roles");
    }
    return roles;
}

void write_roles(const std::vector<role_name>& roles, bson::builder& out)
{
    auto list = out.array("roles");
    for (const role_name& one : roles) {
        auto role = list.document();
        role.add("role", one.role).add("db", one.database);
    }
}

}  // namespace holdfast::lab::mongo
