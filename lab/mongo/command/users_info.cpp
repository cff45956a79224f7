#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/users.hpp"
#include "lab/mongo/command/users_roles.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <string>

namespace holdfast::lab::mongo {

namespace {

constexpr std::size_t most_names = 1000;

void write_user(bson::view user, bool credentials, bson::array_builder& users)
{
    auto one = users.document();
    for (const bson::element& e : user) {
        if (e.key() != "credentials" || credentials)
            one.copy(e);
    }
    auto mechanisms = one.array("mechanisms");
    const bson::element kept = user.find("credentials");
    if (kept.type() != bson::type::document)
        return;
    for (const bson::element& e : kept.as_document())
        mechanisms.add(e.key());
}

/// "name" or {user: "name", db: "db"}: 2 for anything else.
result<void> write_named(const node& on, const request& what, const bson::element& named,
                         bool credentials, bson::array_builder& users)
{
    std::string_view name;
    std::string_view database = what.database;
    if (named.type() == bson::type::string) {
        name = named.as_string();
    } else if (named.type() == bson::type::document) {
        const bson::element user = named.as_document().find("user");
        const bson::element where = named.as_document().find("db");
        if (user.type() != bson::type::string || where.type() != bson::type::string)
            return refuse(server_code::bad_value,
                          "User names must have string fields \"user\" and \"db\"");
        name = user.as_string();
        database = where.as_string();
    } else {
        return refuse(server_code::bad_value, "User names must be either strings or objects");
    }
    if (const auto user = find_user(on, database, name); user)
        write_user(*user, credentials, users);
    return {};
}

}  // namespace

void for_each_user(const node& on, std::string_view database,
                   const std::function<void(bson::view)>& each)
{
    const collection* const users = std::as_const(*on.data).data().find(users_ns);
    if (users == nullptr)
        return;
    for (auto user = users->next(0); user; user = users->next(user->id)) {
        const bson::element where = user->document.find("db");
        const bson::element id = user->document.find("_id");
        if (id.type() == bson::type::string && where.type() == bson::type::string &&
            (database.empty() || where.as_string() == database))
            each(user->document);
    }
}

result<progress> users_info(node& on, request& what, bson::builder& reply)
{
    const bson::element which = *what.body.begin();
    const bool credentials = is_set(what.body.find("showCredentials"));
    auto users = reply.array("users");
    const auto add = [&](bson::view user) { write_user(user, credentials, users); };
    switch (which.type()) {
    case bson::type::int32:
    case bson::type::int64:
    case bson::type::double_:
        for_each_user(on, what.database, add);
        return progress::done;
    case bson::type::array: {
        std::size_t count = 0;
        for (const bson::element& one : which.as_array()) {
            if (++count > most_names)
                return refuse(server_code::bad_value, "too many names");
            if (auto fine = write_named(on, what, one, credentials, users); !fine)
                return std::move(fine).error();
        }
        return progress::done;
    }
    default:
        break;
    }
    if (which.type() == bson::type::document && is_set(which.as_document().find("forAllDBs"))) {
        for_each_user(on, {}, add);
        return progress::done;
    }
    if (auto fine = write_named(on, what, which, credentials, users); !fine)
        return std::move(fine).error();
    return progress::done;
}

result<progress> roles_info(node&, request& what, bson::builder& reply)
{
    const bson::element which = *what.body.begin();
    const bool all = which.type() != bson::type::string && which.type() != bson::type::document &&
                     which.type() != bson::type::array;
    const bool builtin = is_set(what.body.find("showBuiltinRoles"));
    const auto named = which.type() == bson::type::document ? which.as_document().find("role")
                                                            : which;
    auto roles = reply.array("roles");
    for (const std::string_view name : builtin_roles()) {
        const bool asked = all ? builtin
                               : named.type() == bson::type::string && named.as_string() == name;
        if (!asked || !is_builtin_role(name, what.database))
            continue;
        auto role = roles.document();
        role.add("role", name).add("db", what.database).add("isBuiltin", true);
        role.array("roles");
        role.array("inheritedRoles");
    }
    return progress::done;
}

}  // namespace holdfast::lab::mongo
