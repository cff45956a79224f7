#include "core/couchbase/admin/users.hpp"

#include "core/couchbase/admin/path.hpp"
#include "core/couchbase/retry/classify_http.hpp"
#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/service/escape.hpp"

#include <utility>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::granted_role;
using holdfast::couchbase::role;

classification user_refused(int status, std::string_view body)
{
    classification meant = classify_management(status, body);
    if (status == 404)
        meant.code = errc::user_not_found;
    else if (status == 400)
        meant.code = errc::invalid_argument;
    return meant;
}

/// "data_reader[travel:inventory:airline]"
std::string role_text(const role& of)
{
    std::string text{of.name};
    if (of.bucket.empty())
        return text;
    text.append("[").append(of.bucket);
    if (!of.scope.empty())
        text.append(":").append(of.scope);
    if (!of.scope.empty() && !of.collection.empty())
        text.append(":").append(of.collection);
    return text + ']';
}

template <class List, class Text>
std::string joined(const List& all, Text text_of)
{
    std::string made;
    for (const auto& one : all) {
        made += made.empty() ? "" : ",";
        made += text_of(one);
    }
    return made;
}

granted_role role_of(const boost::json::value& from)
{
    granted_role made;
    made.name = text_in(from, "role");
    made.bucket = text_in(from, "bucket_name");
    made.scope = text_in(from, "scope_name");
    made.collection = text_in(from, "collection_name");
    const boost::json::array* const origins = find_array(from, "origins");
    if (origins == nullptr)
        return made;
    made.from_user = false;
    for (const boost::json::value& one : *origins) {
        if (text_in(one, "type") == "group")
            made.from_groups.push_back(text_in(one, "name"));
        else
            made.from_user = true;
    }
    return made;
}

result<user_info> user_of(const boost::json::value& from)
{
    user_info made;
    made.name = text_in(from, "id");
    if (made.name.empty())
        return unexpected_answer("a user: it has no id");
    made.display_name = text_in(from, "name");
    made.password_changed = text_in(from, "password_change_date");
    if (const boost::json::array* const roles = find_array(from, "roles")) {
        for (const boost::json::value& one : *roles)
            made.roles.push_back(role_of(one));
    }
    if (const boost::json::array* const groups = find_array(from, "groups")) {
        for (const boost::json::value& one : *groups) {
            if (const boost::json::string* const name = one.if_string())
                made.groups.emplace_back(name->data(), name->size());
        }
    }
    return made;
}

result<user_info> read_user(std::string_view body)
{
    const auto parsed = parse_json(body);
    if (!parsed)
        return parsed.error();
    return user_of(*parsed);
}

result<std::vector<user_info>> read_users(std::string_view body)
{
    const auto parsed = parse_json(body, {.max_bytes = max_list_bytes});
    if (!parsed)
        return parsed.error();
    const boost::json::array* const all = parsed->if_array();
    if (all == nullptr)
        return unexpected_answer("a list of users");
    std::vector<user_info> made;
    for (const boost::json::value& one : *all) {
        auto user = user_of(one);
        if (!user)
            return std::move(user).error();
        made.push_back(*std::move(user));
    }
    return made;
}

result<std::vector<role_info>> read_roles(std::string_view body)
{
    const auto parsed = parse_json(body, {.max_bytes = max_list_bytes});
    if (!parsed)
        return parsed.error();
    const boost::json::array* const all = parsed->if_array();
    if (all == nullptr)
        return unexpected_answer("a list of roles");
    std::vector<role_info> made;
    for (const boost::json::value& one : *all)
        made.push_back({text_in(one, "role"), text_in(one, "name"), text_in(one, "desc"),
                        text_in(one, "bucket_name")});
    return made;
}

std::string user_path(std::string_view user)
{
    return path_of("settings", "rbac", "users", "local", user);
}

}  // namespace

result<admin_order<void>> upsert_user(std::string_view name, const user_settings& settings)
{
    if (auto bad = check_name(name, "user"); !bad)
        return std::move(bad).error();
    form_text what;
    what.add("name", settings.display_name);
    if (!settings.password.empty())
        what.add("password", settings.password);
    what.add("roles", std::string_view{joined(settings.roles, role_text)});
    if (!settings.groups.empty())
        what.add("groups", std::string_view{joined(settings.groups, [](std::string_view group) {
                     return std::string{group};
                 })});
    return admin_order<void>{
        management(http_method::put, user_path(name), "upsert_user", std::move(what).text()),
        user_refused, read_nothing};
}

result<admin_order<void>> drop_user(std::string_view name)
{
    if (auto bad = check_name(name, "user"); !bad)
        return std::move(bad).error();
    return admin_order<void>{management(http_method::remove, user_path(name), "drop_user"),
                             user_refused, read_nothing};
}

result<admin_order<user_info>> get_user(std::string_view name)
{
    if (auto bad = check_name(name, "user"); !bad)
        return std::move(bad).error();
    return admin_order<user_info>{management(http_method::get, user_path(name), "get_user"),
                                  user_refused, read_user};
}

admin_order<std::vector<user_info>> get_all_users()
{
    return {management(http_method::get, "/settings/rbac/users/local", "get_all_users"),
            user_refused, read_users};
}

admin_order<std::vector<role_info>> get_roles()
{
    return {management(http_method::get, "/settings/rbac/roles", "get_roles"), user_refused,
            read_roles};
}

result<admin_order<void>> change_password(std::string_view password)
{
    if (password.empty())
        return error{errc::invalid_argument, "the new password cannot be empty"};
    form_text what;
    what.add("password", password);
    return admin_order<void>{management(http_method::post, "/controller/changePassword",
                                        "change_password", std::move(what).text()),
                             user_refused, read_nothing};
}

}  // namespace holdfast::core::couchbase
