#include "core/mongo/wire/compression.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/login.hpp"
#include "lab/mongo/command/tables.hpp"
#include "lab/mongo/command/users.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/node/login_conversation.hpp"
#include "lab/mongo/node/node.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::lab::mongo {

namespace {

constexpr int topology_version_since_wire = 9;  // 4.4, and so is "hello"
constexpr std::size_t longest_metadata = 512;
constexpr std::size_t longest_app_name = 128;
constexpr std::int64_t longest_await_ms = 24 * 3600 * 1000;

/// The fields of a hello, found in one walk.
struct hello_fields {
    bson::element client = {};
    bson::element internal_client = {};
    bson::element compression = {};
    bson::element mechanisms_of = {};
    bson::element login = {};
    bson::element topology_version = {};
    bson::element max_await = {};
    bson::element load_balanced = {};
    bson::element hello_ok = {};
};

hello_fields read_hello(bson::view body)
{
    struct place {
        std::string_view name;
        bson::element hello_fields::* at;
    };
    static constexpr place places[] = {
        {"client", &hello_fields::client},
        {"helloOk", &hello_fields::hello_ok},
        {"compression", &hello_fields::compression},
        {"loadBalanced", &hello_fields::load_balanced},
        {"maxAwaitTimeMS", &hello_fields::max_await},
        {"internalClient", &hello_fields::internal_client},
        {"topologyVersion", &hello_fields::topology_version},
        {"saslSupportedMechs", &hello_fields::mechanisms_of},
        {"speculativeAuthenticate", &hello_fields::login},
    };
    hello_fields found;
    for (const bson::element& e : body) {
        const auto* const known = std::ranges::find(places, e.key(), &place::name);
        if (known != std::end(places))
            found.*(known->at) = e;
    }
    return found;
}

result<void> take_metadata(client_facts& who, const bson::element& client)
{
    if (client.type() != bson::type::document)
        return wrong_type("hello", "client", client.type(), "object");
    if (who.hello_seen)
        return refuse(186, "The client metadata document may only be sent in the first hello");
    const bson::view said = client.as_document();
    if (said.size() > longest_metadata)
        return refuse(185, "The client metadata document must be less then or equal to " +
                               std::to_string(longest_metadata) + " bytes");
    for (const std::string_view part : {"driver", "os"}) {
        if (said.find(part).type() != bson::type::document)
            return refuse(183, "Missing required sub-document '" + std::string{part} +
                                   "' in the client metadata document");
    }
    const bson::element name = said.find_path("application.name");
    if (name && name.type() != bson::type::string)
        return wrong_type("application", "name", name.type(), "string");
    if (name && name.as_string().size() > longest_app_name)
        return refuse(184,
                      "The 'application.name' field in the client metadata document is too "
                      "long");
    if (name)
        who.app_name = name.as_string();
    who.metadata = bson::document{said};
    who.hello_seen = true;
    return {};
}

/// What a client says of itself, once per request however often it is looked at.
result<void> take_hello(node& on, request& what, const hello_fields& said)
{
    client_facts& who = what.client;
    const bool first = !who.hello_seen;
    if (said.client) {
        if (auto fine = take_metadata(who, said.client); !fine)
            return fine;
        what.kept = std::make_shared<bool>(true);
    }
    if (said.internal_client.type() == bson::type::document) {
        const bson::element key = said.internal_client.as_document().find("key");
        const std::string_view shown = key.type() == bson::type::string ? key.as_string()
                                                                        : std::string_view{};
        who.internal = shown == on.options.cluster_key;
    }
    if (first && said.client && is_set(said.load_balanced) != who.at_balancer_port && !who.internal)
        return refuse(354, who.at_balancer_port
                               ? "The server is being accessed through a load balancer, but this "
                                 "driver does not have load balancing enabled"
                               : "The server is not configured to support load balancing but the "
                                 "client asks for it");
    if (is_set(said.load_balanced))
        who.load_balanced = true;
    if (is_set(said.hello_ok))
        who.says_hello_ok = true;
    return {};
}

/// Whether this hello has to wait: the client has seen all that there is to say.
result<progress> await_change(const node& on, request& what, const hello_fields& said)
{
    if (static_cast<bool>(said.topology_version) != static_cast<bool>(said.max_await))
        return refuse(31368, said.topology_version
                                 ? "A request with a 'topologyVersion' must include "
                                   "'maxAwaitTimeMS'"
                                 : "A request with 'maxAwaitTimeMS' must include a "
                                   "'topologyVersion'");
    if (!said.topology_version)
        return progress::done;
    if (said.topology_version.type() != bson::type::document)
        return wrong_type("hello", "topologyVersion", said.topology_version.type(), "object");
    const bson::view version = said.topology_version.as_document();
    const bson::element process = version.find("processId");
    const auto counter = version.find("counter").get<std::int64_t>();
    const auto await_ms = said.max_await.get<std::int64_t>();
    if (process.type() != bson::type::object_id)
        return wrong_type("topologyVersion", "processId", process.type(), "objectId");
    if (!counter || *counter < 0)
        return refuse(31372, "topologyVersion must have a non-negative counter");
    if (!await_ms || *await_ms < 0)
        return refuse(31373, "maxAwaitTimeMS must be a non-negative integer");

    // `seen` is one more than the counter of the last reply, if this is not the first one.
    const bool ours = process.as_object_id() == on.process;
    const std::int64_t shown = what.seen != 0 ? what.seen - 1 : *counter;
    if (what.seen == 0 && ours && shown > on.topology_counter())
        return refuse(31382, "Received a topology version with counter: " + std::to_string(shown) +
                                 " which is greater than the server topology version counter: " +
                                 std::to_string(on.topology_counter()));
    const bool nothing_new = (ours || what.seen != 0) && shown == on.topology_counter();
    if (!nothing_new || what.expired)
        return progress::done;
    // From now on, not since it came: it may have been held up by a fail point.
    if (what.wait_until == runtime::never)
        what.wait_until = on.world.steady_now() +
                          std::chrono::milliseconds{std::min(*await_ms, longest_await_ms)};
    return progress::wait;
}

/// What was negotiated once is repeated in every later hello of the connection.
void write_compression(client_facts& who, const bson::element& offered, bson::builder& reply)
{
    if (offered.type() == bson::type::array) {
        who.compressors.clear();
        for (const bson::element& one : offered.as_array()) {
            if (one.type() != bson::type::string)
                continue;
            const auto known = core::mongo::compressor_named(one.as_string());
            if (known &&
                std::ranges::find(who.compressors, one.as_string()) == who.compressors.end())
                who.compressors.emplace_back(one.as_string());
        }
    }
    if (who.compressors.empty())
        return;
    auto names = reply.array("compression");
    for (const std::string& name : who.compressors)
        names.add(name);
}

void write_topology_version(const node& on, bson::builder& reply)
{
    auto version = reply.document("topologyVersion");
    version.add("processId", on.process).add("counter", on.topology_counter());
}

void write_limits(const node& on, const request& what, bson::builder& reply)
{
    const int wire = on.options.version.wire();
    reply.add("maxBsonObjectSize", 16 * 1024 * 1024)
        .add("maxMessageSizeBytes", 48'000'000)
        .add("maxWriteBatchSize", 100'000)
        .add("localTime", on.wall_now());
    if (on.options.sessions)
        reply.add("logicalSessionTimeoutMinutes", 30);
    reply.add("connectionId", static_cast<std::int32_t>(what.client.connection))
        .add("minWireVersion", 0)
        .add("maxWireVersion", wire)
        .add("readOnly", false);
}

/// A login that comes with the hello. If it fails nothing is said, and the client tries again in
/// the usual way; so also if the user has no keys for the mechanism, which the client has guessed.
void write_login(node& on, client_facts& who, const bson::element& login, bson::builder& reply)
{
    if (login.type() != bson::type::document)
        return;
    const bson::view command = login.as_document();
    const bson::element database = command.find("db");
    if (database.type() != bson::type::string || !command.find("saslStart"))
        return;
    bson::byte_buffer bytes;
    bson::builder answer{bytes};
    if (!start_login(on, who, command, database.as_string(), answer))
        return;
    if (const auto done = answer.finish(); done)
        reply.add("speculativeAuthenticate", *done);
}

result<progress> run_hello(node& on, request& what, bson::builder& reply)
{
    const bool legacy = what.name != "hello";
    const bool modern = on.options.version.wire() >= topology_version_since_wire;
    if (!legacy && !modern)
        return refuse(server_code::command_not_found, "no such command: 'hello'");
    const hello_fields said = read_hello(what.body);
    if (!what.kept && what.seen == 0) {
        if (auto fine = take_hello(on, what, said); !fine)
            return std::move(fine).error();
    }
    if (modern) {
        auto ready = await_change(on, what, said);
        if (!ready || *ready != progress::done)
            return ready;
    }
    what.more_to_come = modern && said.topology_version && what.message.flags.exhaust_allowed;
    what.seen = on.topology_counter() + 1;

    if (modern && is_set(said.hello_ok))
        reply.add("helloOk", true);
    if (modern)
        write_topology_version(on, reply);
    on.member->describe(reply, legacy);
    write_limits(on, what, reply);
    write_compression(what.client, said.compression, reply);
    if (said.mechanisms_of.type() == bson::type::string)
        add_supported_mechanisms(on, said.mechanisms_of.as_string(), reply);
    write_login(on, what.client, said.login, reply);
    if (what.client.load_balanced)
        reply.add("serviceId", on.process);
    return progress::done;
}

constexpr command hello_forms[] = {
    {.name = "hello",
     .run = run_hello,
     .needs_login = false,
     .in_api_v1 = true,
     .before_hello = true},
    {.name = "isMaster",
     .run = run_hello,
     .needs_login = false,
     .in_api_v1 = true,
     .before_hello = true},
    {.name = "ismaster",
     .run = run_hello,
     .needs_login = false,
     .in_api_v1 = true,
     .before_hello = true},
};

}  // namespace

std::span<const command> hello_commands()
{
    // Never destroyed: a server that a static object holds may run until after main().
    static const auto* const all = [] {
        auto together = std::make_unique<std::vector<command>>(std::begin(hello_forms),
                                                               std::end(hello_forms));
        for (const auto& more : {login_commands(), user_commands()})
            together->insert(together->end(), more.begin(), more.end());
        return together.release();
    }();
    return *all;
}

}  // namespace holdfast::lab::mongo
