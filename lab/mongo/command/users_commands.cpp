#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/users.hpp"
#include "lab/mongo/command/users_roles.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"

#include <string>

namespace holdfast::lab::mongo {

namespace {

error no_such_user(std::string_view name, std::string_view database)
{
    std::string text = "User '";
    text.append(name).append("@").append(database).append("' not found");
    return refuse(11, std::move(text));
}

error already_exists(std::string_view name, std::string_view database)
{
    std::string text = "User \"";
    text.append(name).append("@").append(database).append("\" already exists");
    return refuse(server_code::user_already_exists, std::move(text));
}

/// The name in the first field of a command. 14, 2.
result<std::string_view> name_in(const request& what)
{
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::string)
        return wrong_type(what.name, what.name, first.type(), "string");
    if (first.as_string().empty())
        return refuse(server_code::bad_value, "User document needs 'user' field to be non-empty");
    return first.as_string();
}

result<wanted_mechanisms> read_mechanisms(const bson::element& from)
{
    wanted_mechanisms wanted;
    if (!from)
        return wanted;
    wanted = {false, false};
    for (const bson::element& e : from.as_array()) {
        const std::string_view name = e.type() == bson::type::string ? e.as_string()
                                                                     : std::string_view{};
        if (name == sha_1_name)
            wanted.sha_1 = true;
        else if (name == sha_256_name)
            wanted.sha_256 = true;
        else
            return refuse(server_code::bad_value,
                          "Unknown auth mechanism '" + std::string{name} + "'");
    }
    if (!wanted.sha_1 && !wanted.sha_256)
        return refuse(server_code::bad_value, "mechanisms field must not be empty");
    return wanted;
}

/// What createUser and updateUser may say of a user.
struct user_definition {
    std::string_view name;
    std::string_view database;
    bson::element password = {};
    bson::element custom_data = {};
    wanted_mechanisms mechanisms = {};
    std::optional<std::vector<role_name>> roles = {};
};

/// A new document for the user; what is not said is taken from the old one.
result<bson::document> compose_user(node& on, const user_definition& said, bson::view old)
{
    bson::byte_buffer bytes;
    bson::builder user{bytes};
    std::string id{said.database};
    id.append(1, '.').append(said.name);
    user.add("_id", id);
    if (const bson::element kept = old.find("userId"); kept) {
        user.copy(kept);
    } else {
        std::array<std::uint8_t, 16> uuid{};
        on.world.random(uuid);
        bson::binary value;
        value.bytes = uuid;
        value.subtype = bson::binary_subtype::uuid;
        user.put("userId", value);
    }
    user.add("user", said.name).add("db", said.database);
    if (said.password) {
        if (auto fine = add_credentials(on, said.name, said.password.as_string(), said.mechanisms,
                                        user);
            !fine)
            return std::move(fine).error();
    } else if (const bson::element kept = old.find("credentials"); kept) {
        user.copy(kept);
    } else {
        auto credentials = user.document("credentials");
        credentials.add("external", true);
    }
    if (said.roles)
        write_roles(*said.roles, user);
    else if (const bson::element kept = old.find("roles"); kept)
        user.copy(kept);
    const bson::element custom = said.custom_data ? said.custom_data : old.find("customData");
    if (custom)
        user.copy("customData", custom);
    if (auto done = user.finish(); !done)
        return std::move(done).error();
    return bson::document::adopt(std::move(bytes));
}

result<void> check_password(const bson::element& password, const bson::element& digest)
{
    if (password && password.as_string().empty())
        return refuse(server_code::bad_value, "Password cannot be empty");
    if (digest.type() == bson::type::boolean && !digest.as_bool())
        return refuse(server_code::bad_value, "Use of SCRAM-SHA-256 requires undigested passwords");
    return {};
}

constexpr field_rule user_rules[] = {
    {"pwd", kind::text},
    {"roles", kind::array},
    {"customData", kind::document},
    {"mechanisms", kind::array},
    {"digestPassword", kind::boolean},
    {"authenticationRestrictions", kind::array},
};
using user_fields = fields<user_rules>;

result<user_definition> definition_in(const request& what, const user_fields& said)
{
    const auto name = name_in(what);
    if (!name)
        return name.error();
    if (auto fine = check_password(said["pwd"], said["digestPassword"]); !fine)
        return std::move(fine).error();
    const auto mechanisms = read_mechanisms(said["mechanisms"]);
    if (!mechanisms)
        return mechanisms.error();
    user_definition definition;
    definition.name = *name;
    definition.database = what.database;
    definition.password = said["pwd"];
    definition.custom_data = said["customData"];
    definition.mechanisms = *mechanisms;
    if (said.has("roles")) {
        auto roles = read_roles(said.array("roles"), what.database);
        if (!roles)
            return std::move(roles).error();
        definition.roles = *std::move(roles);
    }
    return definition;
}

/// A new user, or another document in place of the old one.
result<optime> store_user(node& on, const user_definition& definition, const bson::document* old)
{
    const auto made = compose_user(on, definition, old ? old->view() : bson::view{});
    if (!made)
        return made.error();
    return old ? replace_user(on, *made) : insert_user(on, *made);
}

result<progress> remember(request& what, const result<optime>& written)
{
    if (!written)
        return written.error();
    what.wrote = *written;
    return progress::done;
}

result<progress> create_user(node& on, request& what, bson::builder&)
{
    // The first user of all may be made without a login (the localhost exception).
    if (on.options.auth && what.client.users.empty() && !what.client.internal && has_users(on))
        return refuse(server_code::unauthorized, "Command createUser requires authentication");
    const auto said = user_fields::read(on, what);
    if (!said)
        return said.error();
    if (!said->has("roles"))
        return missing_field(what.name, "roles");
    const auto definition = definition_in(what, *said);
    if (!definition)
        return definition.error();
    if (!said->has("pwd") && what.database != "$external")
        return refuse(server_code::bad_value,
                      "Must provide a 'pwd' field for all user documents, except those with "
                      "'$external' as the user's source db");
    if (find_user(on, what.database, definition->name))
        return already_exists(definition->name, what.database);
    return remember(what, store_user(on, *definition, nullptr));
}

result<progress> update_user(node& on, request& what, bson::builder&)
{
    const auto said = user_fields::read(on, what);
    if (!said)
        return said.error();
    const auto definition = definition_in(what, *said);
    if (!definition)
        return definition.error();
    if (!said->has("pwd") && !said->has("roles") && !said->has("customData") &&
        !said->has("mechanisms") && !said->has("authenticationRestrictions"))
        return refuse(server_code::bad_value,
                      "Must specify at least one field to update in updateUser");
    const auto old = find_user(on, what.database, definition->name);
    if (!old)
        return no_such_user(definition->name, what.database);
    return remember(what, store_user(on, *definition, &*old));
}

result<progress> drop_user(node& on, request& what, bson::builder&)
{
    const auto name = name_in(what);
    if (!name)
        return name.error();
    const auto old = find_user(on, what.database, *name);
    if (!old)
        return no_such_user(*name, what.database);
    return remember(what, remove_user(on, old->find("_id").as_string()));
}

result<progress> drop_all_users(node& on, request& what, bson::builder& reply)
{
    std::vector<std::string> ids;
    for_each_user(on, what.database,
                  [&](bson::view user) { ids.emplace_back(user.find("_id").as_string()); });
    for (const std::string& id : ids) {
        const auto gone = remove_user(on, id);
        if (!gone)
            return gone.error();
        what.wrote = *gone;
    }
    reply.add("n", static_cast<std::int32_t>(ids.size()));
    return progress::done;
}

/// grantRolesToUser and revokeRolesFromUser differ in what becomes of the roles.
result<progress> change_roles(node& on, request& what, bool grant)
{
    const auto name = name_in(what);
    if (!name)
        return name.error();
    const bson::element named = what.body.find("roles");
    if (named.type() != bson::type::array)
        return named ? wrong_type(what.name, "roles", named.type(), "array")
                     : missing_field(what.name, "roles");
    auto roles = read_roles(named.as_array(), what.database);
    if (!roles)
        return std::move(roles).error();
    const auto old = find_user(on, what.database, *name);
    if (!old)
        return no_such_user(*name, what.database);
    const bson::element had = old->find("roles");
    auto held = read_roles(had.type() == bson::type::array ? had.as_array() : bson::array_view{},
                           what.database);
    if (!held)
        return std::move(held).error();
    for (const role_name& one : *roles) {
        std::erase(*held, one);
        if (grant)
            held->push_back(one);
    }
    user_definition definition;
    definition.name = *name;
    definition.database = what.database;
    definition.roles = *std::move(held);
    return remember(what, store_user(on, definition, &*old));
}

result<progress> grant_roles(node& on, request& what, bson::builder&)
{
    return change_roles(on, what, true);
}
result<progress> revoke_roles(node& on, request& what, bson::builder&)
{
    return change_roles(on, what, false);
}

constexpr command all_user_commands[] = {
    {.name = "createUser",
     .run = create_user,
     .writes = true,
     .needs_login = false,
     .takes_write_concern = true,
     .sensitive = true},
    {.name = "updateUser",
     .run = update_user,
     .writes = true,
     .takes_write_concern = true,
     .sensitive = true},
    {.name = "dropUser", .run = drop_user, .writes = true, .takes_write_concern = true},
    {.name = "dropAllUsersFromDatabase",
     .run = drop_all_users,
     .writes = true,
     .takes_write_concern = true},
    {.name = "grantRolesToUser", .run = grant_roles, .writes = true, .takes_write_concern = true},
    {.name = "revokeRolesFromUser",
     .run = revoke_roles,
     .writes = true,
     .takes_write_concern = true},
    {.name = "usersInfo", .run = users_info},
    {.name = "rolesInfo", .run = roles_info},
};

}  // namespace

std::span<const command> user_commands()
{
    return all_user_commands;
}

result<void> create_root_user(node& on, std::string_view name, std::string_view password)
{
    if (find_user(on, "admin", name))
        return already_exists(name, "admin");
    const bson::document said = bson::doc("pwd", password);
    user_definition definition;
    definition.name = name;
    definition.database = "admin";
    definition.password = said.find("pwd");
    definition.roles.emplace(1, role_name{"root", "admin"});
    const auto written = store_user(on, definition, nullptr);
    return written ? result<void>{} : result<void>{written.error()};
}

}  // namespace holdfast::lab::mongo
