#include "lab/mongo/command/login.hpp"

#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/scram.hpp"
#include "lab/mongo/command/users.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/node/login_conversation.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::lab::mongo {

namespace {

constexpr std::size_t longest_payload = 16 * 1024;
constexpr std::size_t most_logins = 100;

/// Binary or, from a shell, a string in Base64.
result<std::string> read_payload(bson::view command, std::string_view where)
{
    const bson::element payload = command.find("payload");
    if (!payload)
        return missing_field(where, "payload");
    if (payload.type() == bson::type::binary) {
        const auto bytes = payload.as_binary().bytes;
        if (bytes.size() <= longest_payload)
            return std::string{bytes.begin(), bytes.end()};
    } else if (payload.type() == bson::type::string) {
        const auto bytes = payload.as_string().size() <= longest_payload
                               ? bytes_of_base64(payload.as_string())
                               : std::nullopt;
        if (bytes)
            return std::string{bytes->begin(), bytes->end()};
    } else {
        return wrong_type(where, "payload", payload.type(), "[binData, string]");
    }
    return authentication_failed();
}

void write_step(const login_conversation& in, bool done, std::string_view payload,
                bson::builder& reply)
{
    reply.add("conversationId", in.id).add("done", done);
    bson::binary bytes;
    bytes.bytes = {reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
    reply.put("payload", bytes);
}

std::string fresh_nonce(node& on)
{
    std::array<std::uint8_t, 24> bytes{};
    on.world.random(bytes);
    return base64_text(bytes);
}

void logged_in(client_facts& who, const login_conversation& as)
{
    const std::string name = as.scram.user + '@' + as.database;
    std::erase(who.users, name);
    if (who.users.size() < most_logins)
        who.users.push_back(name);
    const auto print = fingerprint(who.users.front());
    std::ranges::copy(print, who.user_digest.begin());
}

result<progress> sasl_start(node& on, request& what, bson::builder& reply)
{
    if (auto fine = start_login(on, what.client, what.body, what.database, reply); !fine)
        return std::move(fine).error();
    return progress::done;
}

result<progress> sasl_continue(node&, request& what, bson::builder& reply)
{
    // Taken out: whatever is wrong with this message ends the exchange.
    const auto going_on = std::move(what.client.login);
    what.client.login = nullptr;
    if (!going_on)
        return refuse(server_code::protocol_error, "No SASL session state found");
    const bson::element id = what.body.find("conversationId");
    const auto number = id.get<std::int32_t>();
    if (!number)
        return missing_field("saslContinue", "conversationId");
    if (*number != going_on->id)
        return refuse(server_code::protocol_error, "sasl: Mismatched conversation id");
    const auto payload = read_payload(what.body, "saslContinue");
    if (!payload)
        return payload.error();
    if (going_on->proven) {
        if (!payload->empty())
            return authentication_failed();
        write_step(*going_on, true, {}, reply);
        logged_in(what.client, *going_on);
        return progress::done;
    }
    const auto last = end_scram(going_on->scram, *payload);
    if (!last)
        return authentication_failed();
    const bool done = going_on->skip_empty_exchange;
    write_step(*going_on, done, *last, reply);
    if (done) {
        logged_in(what.client, *going_on);
    } else {
        what.client.login = std::make_unique<login_conversation>(*going_on);
        what.client.login->proven = true;
    }
    return progress::done;
}

result<progress> log_out(node&, request& what, bson::builder&)
{
    const std::string suffix = '@' + std::string{what.database};
    std::erase_if(what.client.users,
                  [&](const std::string& user) { return user.ends_with(suffix); });
    what.client.login = nullptr;
    if (what.client.users.empty())
        what.client.user_digest = {};
    return progress::done;
}

result<progress> authenticate(node&, request&, bson::builder&)
{
    return refuse(server_code::mechanism_unavailable,
                  "Received authentication for a mechanism which is not enabled");
}

result<progress> connection_status(node& on, request& what, bson::builder& reply)
{
    auto info = reply.document("authInfo");
    {
        auto users = info.array("authenticatedUsers");
        for (const std::string& name : what.client.users) {
            const std::size_t at = name.rfind('@');
            auto one = users.document();
            one.add("user", std::string_view{name}.substr(0, at))
                .add("db", std::string_view{name}.substr(at + 1));
        }
    }
    auto roles = info.array("authenticatedUserRoles");
    for (const std::string& name : what.client.users) {
        const std::size_t at = name.rfind('@');
        const auto user = find_user(on, std::string_view{name}.substr(at + 1),
                                    std::string_view{name}.substr(0, at));
        const bson::element held = user ? user->find("roles") : bson::element{};
        if (held.type() != bson::type::array)
            continue;
        for (const bson::element& role : held.as_array())
            roles.copy(role);
    }
    return progress::done;
}

// Of a login that servers before 4.0 had; the command went with 6.2.
result<progress> get_nonce(node& on, request&, bson::builder& reply)
{
    if (version_number(on) >= 602)
        return refuse(server_code::command_not_found, "no such command: 'getnonce'");
    bson::object_id chance;
    on.world.random(chance.bytes);
    constexpr std::size_t digits = 16;
    reply.add("nonce", std::string_view{chance.to_string()}.substr(0, digits));
    return progress::done;
}

constexpr command all_login_commands[] = {
    {.name = "saslStart",
     .run = sasl_start,
     .needs_login = false,
     .in_api_v1 = true,
     .sensitive = true,
     .before_hello = true},
    {.name = "saslContinue",
     .run = sasl_continue,
     .needs_login = false,
     .in_api_v1 = true,
     .sensitive = true,
     .before_hello = true},
    {.name = "authenticate",
     .run = authenticate,
     .needs_login = false,
     .in_api_v1 = true,
     .sensitive = true},
    {.name = "getnonce", .run = get_nonce, .needs_login = false, .sensitive = true},
    {.name = "logout", .run = log_out, .needs_login = false},
    {.name = "connectionStatus", .run = connection_status, .needs_login = false},
};

}  // namespace

result<void> start_login(node& on, client_facts& who, bson::view command, std::string_view database,
                         bson::builder& reply)
{
    who.login = nullptr;
    const bson::element mechanism = command.find("mechanism");
    if (!mechanism)
        return missing_field("saslStart", "mechanism");
    if (mechanism.type() != bson::type::string)
        return wrong_type("saslStart", "mechanism", mechanism.type(), "string");
    const bool sha_256 = mechanism.as_string() == sha_256_name;
    if (!sha_256 && mechanism.as_string() != sha_1_name)
        return refuse(server_code::mechanism_unavailable, "Received authentication for mechanism " +
                                                              std::string{mechanism.as_string()} +
                                                              " which is not enabled");
    const auto payload = read_payload(command, "saslStart");
    if (!payload)
        return payload.error();
    auto first = read_client_first(*payload);
    if (!first)
        return authentication_failed();

    const auto user = find_user(on, database, first->user);
    const auto keys = user ? keys_of(*user, sha_256) : std::nullopt;
    if (!keys)
        return authentication_failed();
    auto begun = std::make_unique<login_conversation>();
    begun->scram.hash = hash_of(sha_256);
    begun->database = database;
    const bson::element skip = command.find_path("options.skipEmptyExchange");
    begun->skip_empty_exchange = skip.type() == bson::type::boolean && skip.as_bool();
    const std::string answer = begin_scram(begun->scram, *std::move(first), *keys, fresh_nonce(on));
    write_step(*begun, false, answer, reply);
    who.login = std::move(begun);
    return {};
}

void add_supported_mechanisms(const node& on, std::string_view user, bson::builder& reply)
{
    const std::size_t dot = user.find('.');
    const auto known = dot == user.npos ? std::nullopt
                                        : find_user(on, user.substr(0, dot), user.substr(dot + 1));
    if (!known)
        return;
    auto names = reply.array("saslSupportedMechs");
    if (keys_of(*known, false))
        names.add(sha_1_name);
    if (keys_of(*known, true))
        names.add(sha_256_name);
}

std::span<const command> login_commands()
{
    return all_login_commands;
}

}  // namespace holdfast::lab::mongo
