#include "lab/mongo/command/sessions.hpp"

#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/node/node.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab::mongo {

namespace {

constexpr std::size_t most_sessions = 10'000;  // in one command

constexpr field_rule transaction_rules[] = {
    {"recoveryToken", kind::ignored},
    {"commitTimestamp", kind::ignored},
    {"durableTimestamp", kind::ignored},
};

// {endSessions: [{id: UUID}, ...]}
result<std::vector<session_key>> read_sessions(const request& what)
{
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::array)
        return wrong_type(what.name, what.name, first.type(), "array");
    std::vector<session_key> keys;
    for (const bson::element& e : first.as_array()) {
        if (e.malformed())
            return malformed_field(e);
        if (e.type() != bson::type::document)
            return wrong_type(what.name, e.key(), e.type(), "object");
        if (keys.size() == most_sessions)
            return refuse(server_code::bad_value, "too many sessions in one command");
        auto key = read_session_key(e.as_document());
        if (!key)
            return std::move(key).error();
        if (key->user == session_key{}.user)
            key->user = what.client.user_digest;
        keys.push_back(*key);
    }
    return keys;
}

void end(node& on, const session_key& session)
{
    on.cursors.remove_of(session);
    on.end_session(session);
}

}  // namespace

result<progress> run_start_session(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    session_key made;
    on.world.random(made.id);
    made.id[6] = static_cast<std::uint8_t>((made.id[6] & 0x0F) | 0x40);  // a UUID of version 4
    made.id[8] = static_cast<std::uint8_t>((made.id[8] & 0x3F) | 0x80);
    made.user = what.client.user_digest;
    on.touch_session(made);
    reply.add("id", bson::object("id", bson::binary{made.id, bson::binary_subtype::uuid}));
    reply.add("timeoutMinutes", 30);
    return progress::done;
}

result<progress> run_refresh_sessions(node& on, request& what, bson::builder&)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    auto keys = read_sessions(what);
    if (!keys)
        return std::move(keys).error();
    for (const session_key& one : *keys)
        on.touch_session(one);
    return progress::done;
}

result<progress> run_end_sessions(node& on, request& what, bson::builder&)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    auto keys = read_sessions(what);
    if (!keys)
        return std::move(keys).error();
    for (const session_key& one : *keys)
        end(on, one);
    return progress::done;
}

result<progress> run_kill_sessions(node& on, request& what, bson::builder& reply)
{
    auto keys = read_sessions(what);
    if (!keys)
        return std::move(keys).error();
    if (keys->empty())  // all of this user
        return run_kill_all_sessions(on, what, reply);
    for (const session_key& one : *keys)
        on.cursors.remove_of(one);
    return progress::done;
}

result<progress> run_kill_all_sessions(node& on, request& what, bson::builder&)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::array)
        return wrong_type(what.name, what.name, first.type(), "array");
    std::vector<session_key> all;
    for (const auto& [key, used] : on.sessions())
        all.push_back(key);
    for (const session_key& one : all)
        on.cursors.remove_of(one);
    return progress::done;
}

result<progress> run_transaction_end(node& on, request& what, bson::builder&)
{
    if (auto read = fields<transaction_rules>::read(on, what); !read)
        return std::move(read).error();
    return refuse(server_code::command_failed,
                  std::string{what.name} + " must be run within a transaction");
}

}  // namespace holdfast::lab::mongo
