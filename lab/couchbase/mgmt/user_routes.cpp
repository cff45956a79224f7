#include "lab/couchbase/mgmt/routes.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = boost::json;

struct known_role {
    const char* name;
    const char* title;
    const char* about;
    bool has_bucket;
};
constexpr known_role known_roles[] = {
    {"admin", "Full Admin", "Can manage all cluster features and use all buckets.", false},
    {"cluster_admin", "Cluster Admin", "Can manage all cluster features.", false},
    {"ro_admin", "Read-Only Admin", "Can view all cluster statistics.", false},
    {"bucket_admin", "Bucket Admin", "Can manage all features of a bucket.", true},
    {"bucket_full_access", "Application Access", "Full access to bucket data.", true},
    {"scope_admin", "Manage Scopes", "Can create and delete scopes and collections.", true},
    {"data_reader", "Data Reader", "Can read data from a bucket.", true},
    {"data_writer", "Data Writer", "Can write data to a bucket.", true},
    {"data_dcp_reader", "Data DCP Reader", "Can initiate DCP streams.", true},
    {"data_monitoring", "Data Monitor", "Can read statistics of a bucket.", true},
    {"query_select", "Query Select", "Can execute SELECT on a bucket.", true},
};

std::vector<std::string> split_list(std::string_view text)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (end != 0)
            parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string up_to(std::string_view& text, char mark)
{
    const std::size_t end = std::min(text.find(mark), text.size());
    std::string part{text.substr(0, end)};
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

/// "data_reader[travel:scope:collection]"; none if there is no such role.
std::optional<user_role> read_role(std::string_view text)
{
    user_role made;
    made.name = up_to(text, '[');
    if (!text.empty() && !text.ends_with(']'))
        return std::nullopt;
    if (!text.empty())
        text.remove_suffix(1);
    made.bucket = up_to(text, ':');
    made.scope = up_to(text, ':');
    made.collection = text;
    const auto known = std::ranges::find_if(
        known_roles, [&](const known_role& one) { return one.name == made.name; });
    if (known == std::ranges::end(known_roles) || known->has_bucket == made.bucket.empty())
        return std::nullopt;
    return made;
}

std::optional<std::vector<user_role>> read_roles(std::string_view text)
{
    std::vector<user_role> all;
    for (const std::string& one : split_list(text)) {
        auto role = read_role(one);
        if (!role)
            return std::nullopt;
        all.push_back(*std::move(role));
    }
    return all;
}

json::object role_object(const user_role& of)
{
    json::object made{{"role", json_text(of.name)}};
    if (!of.bucket.empty())
        made["bucket_name"] = json_text(of.bucket);
    if (!of.bucket.empty())
        made["scope_name"] = json_text(of.scope.empty() ? "*" : of.scope);
    if (!of.bucket.empty())
        made["collection_name"] = json_text(of.collection.empty() ? "*" : of.collection);
    return made;
}

json::object user_object(const directory& in, const std::string& name, const user_record& of)
{
    json::array roles;
    const auto add = [&](const user_role& role, json::object origin) {
        json::object made = role_object(role);
        json::array origins;
        origins.push_back(std::move(origin));
        made["origins"] = std::move(origins);
        roles.push_back(std::move(made));
    };
    for (const user_role& one : of.roles)
        add(one, {{"type", "user"}});
    json::array groups;
    for (const std::string& group : of.groups) {
        groups.push_back(json_text(group));
        const auto found = in.groups.find(group);
        if (found == in.groups.end())
            continue;
        for (const user_role& one : found->second.roles)
            add(one, {{"type", "group"}, {"name", json_text(group)}});
    }
    return json::object{{"id", json_text(name)},
                        {"domain", "local"},
                        {"name", json_text(of.display_name)},
                        {"password_change_date", "2026-01-01T00:00:00.000Z"},
                        {"roles", std::move(roles)},
                        {"groups", std::move(groups)},
                        {"external_groups", json::array{}}};
}

http_reply list_users(route_call& call)
{
    json::array all;
    for (const auto& [name, user] : call.on.admin().people().users)
        all.push_back(user_object(call.on.admin().people(), name, user));
    return json_reply(all);
}

http_reply get_user(route_call& call)
{
    const auto& users = call.on.admin().people().users;
    const auto found = users.find(call.names[0]);
    if (found == users.end())
        return refuse(404, "Unknown user.");
    return json_reply(user_object(call.on.admin().people(), found->first, found->second));
}

http_reply put_user(route_call& call)
{
    auto roles = read_roles(call.field("roles"));
    if (!roles)
        return wrong_field("roles", "Cannot assign roles to user because a role is unknown");
    user_record made{call.field("name"), *std::move(roles), split_list(call.field("groups"))};
    for (const std::string& group : made.groups) {
        if (!call.on.admin().people().groups.contains(group))
            return wrong_field("groups", "Groups do not exist: " + group);
    }
    std::optional<std::string> password;
    if (call.form.contains("password"))
        password = call.field("password");
    if (password && password->size() < 6)
        return wrong_field("password", "The password must be at least 6 characters long.");
    if (auto set = call.on.admin().put_user(call.names[0], std::move(password), std::move(made));
        !set)
        return wrong_field("password", set.error().message());
    return json_reply(json::array{});
}

http_reply delete_user(route_call& call)
{
    if (!call.on.admin().people().users.contains(call.names[0]))
        return refuse(404, "User was not found.");
    call.on.drop_user(call.names[0]);
    return json_reply(json::array{});
}

http_reply change_password(route_call& call)
{
    const std::string password = call.field("password");
    if (password.size() < 6)
        return wrong_field("password", "The password must be at least 6 characters long.");
    user_record same = call.on.admin().people().users.find(call.user)->second;
    if (auto set = call.on.admin().put_user(call.user, password, std::move(same)); !set)
        return wrong_field("password", set.error().message());
    return {};
}

json::object group_object(const std::string& name, const group_record& of)
{
    json::array roles;
    for (const user_role& one : of.roles)
        roles.push_back(role_object(one));
    return json::object{{"id", json_text(name)},
                        {"description", json_text(of.description)},
                        {"ldap_group_ref", json_text(of.ldap_group)},
                        {"roles", std::move(roles)}};
}

http_reply list_groups(route_call& call)
{
    json::array all;
    for (const auto& [name, group] : call.on.admin().people().groups)
        all.push_back(group_object(name, group));
    return json_reply(all);
}

http_reply get_group(route_call& call)
{
    const auto& groups = call.on.admin().people().groups;
    const auto found = groups.find(call.names[0]);
    return found == groups.end() ? refuse(404, "Unknown group.")
                                 : json_reply(group_object(found->first, found->second));
}

http_reply put_group(route_call& call)
{
    auto roles = read_roles(call.field("roles"));
    if (!roles)
        return wrong_field("roles", "Cannot assign roles to group because a role is unknown");
    call.on.admin().set_group(
        call.names[0],
        group_record{call.field("description"), call.field("ldap_group_ref"), *std::move(roles)});
    return json_reply(json::array{});
}

http_reply delete_group(route_call& call)
{
    if (!call.on.admin().people().groups.contains(call.names[0]))
        return refuse(404, "Group was not found.");
    call.on.admin().set_group(call.names[0], std::nullopt);
    return json_reply(json::array{});
}

http_reply list_roles(route_call&)
{
    json::array all;
    for (const known_role& one : known_roles) {
        json::object made{{"role", one.name}, {"name", one.title}, {"desc", one.about}};
        if (one.has_bucket)
            made["bucket_name"] = "*";
        all.push_back(std::move(made));
    }
    return json_reply(all);
}

constexpr route user_table[] = {
    {"GET", "/settings/rbac/users", access::administrator, list_users},
    {"GET", "/settings/rbac/users/local", access::administrator, list_users},
    {"GET", "/settings/rbac/users/local/*", access::administrator, get_user},
    {"PUT", "/settings/rbac/users/local/*", access::administrator, put_user},
    {"DELETE", "/settings/rbac/users/local/*", access::administrator, delete_user},
    {"GET", "/settings/rbac/groups", access::administrator, list_groups},
    {"GET", "/settings/rbac/groups/*", access::administrator, get_group},
    {"PUT", "/settings/rbac/groups/*", access::administrator, put_group},
    {"DELETE", "/settings/rbac/groups/*", access::administrator, delete_group},
    {"GET", "/settings/rbac/roles", access::administrator, list_roles},
    {"POST", "/controller/changePassword", access::login, change_password},
};

}  // namespace

std::span<const route> user_routes()
{
    return user_table;
}

}  // namespace holdfast::lab::couchbase
