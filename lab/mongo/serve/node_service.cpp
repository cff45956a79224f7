#include "lab/mongo/serve/node_service.hpp"

#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/labels.hpp"
#include "lab/mongo/serve/checks.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::lab::mongo {

namespace {

bool is_handshake(std::string_view name) noexcept
{
    return name == "hello" || name == "isMaster" || name == "ismaster";
}

/// Monitoring goes on while a server is overloaded, logins are not repeated, and the limit can
/// be lifted.
bool is_exempt(const request& what) noexcept
{
    return what.client.internal || is_handshake(what.name) || what.name == "saslStart" ||
           what.name == "saslContinue" || what.name == "setParameter";
}

int code_of(const error& why) noexcept
{
    if (why.code().category() == server_category())
        return why.code().value();
    if (why.code().category() == bson::category())
        return why.code() == bson::errc::malformed ? 22
                                                   : static_cast<int>(server_code::type_mismatch);
    return static_cast<int>(server_code::bad_value);
}

void add_details(const error& why, bson::builder& reply)
{
    constexpr std::array<std::string_view, 4> details{"keyPattern", "keyValue", "collation",
                                                      "errInfo"};
    for (const std::string_view name : details) {
        const std::string_view text = why.context(name);
        if (text.empty())
            continue;
        if (const auto read = bson::from_json(text); read)
            reply.add(name, read->view());
    }
    // Arrays are kept as the document of their one field. Violations are what keeps an index from
    // becoming unique.
    for (const std::string_view name : {"hexEncoded", "violations"}) {
        if (const auto read = bson::from_json(why.context(name)); read)
            reply.merge(*read);
    }
}

void add_topology_version(const node& of, bson::builder& reply)
{
    auto version = reply.document("topologyVersion");
    version.add("processId", of.process).add("counter", of.topology_counter());
}

void add_times(const node& of, bson::builder& reply)
{
    if (!of.member->in_set())
        return;
    const bson::timestamp last = of.data->last().ts;
    put_times(reply, std::max(of.cluster_time(), last), last);
}

/// The application's name for a fail point that chooses by it: the first hello has it itself.
std::string_view app_name_of(const request& what) noexcept
{
    if (!what.client.app_name.empty() || !is_handshake(what.name))
        return what.client.app_name;
    const bson::element name = what.body.find_path("client.application.name");
    return name.type() == bson::type::string ? name.as_string() : std::string_view{};
}

}  // namespace

void put_times(bson::builder& reply, bson::timestamp of_cluster, bson::timestamp of_operation)
{
    constexpr std::array<std::uint8_t, 20> no_hash{};
    {
        auto time = reply.document("$clusterTime");
        time.put("clusterTime", of_cluster);
        auto signature = time.document("signature");
        signature.put("hash", bson::binary{no_hash});
        signature.put("keyId", std::int64_t{0});
    }
    reply.put("operationTime", of_operation);
}

bool node_service::admits()
{
    return !node_.connections.enabled() || node_.connections.admit(node_.now());
}

std::int64_t node_service::opened()
{
    ++node_.open_connections;
    return node_.next_connection();
}

void node_service::closed(client_facts& who)
{
    --node_.open_connections;
    if (who.load_balanced)
        node_.cursors.remove_of_connection(who.connection);
}

result<progress> node_service::answer(request& what, bson::builder& reply)
{
    const command* const known = node_.find_command(what.name);
    if (known == nullptr)
        return refuse(server_code::command_not_found,
                      "no such command: '" + std::string{what.name} + "'");
    if (what.legacy && !is_handshake(what.name))
        return refuse(352, "Unsupported OP_QUERY command: " + std::string{what.name} +
                               ". The client driver may require an upgrade.");
    if (node_.options.version < labels_since)
        what.labels_given = true;
    if (auto fine = check_all(*known, what); !fine)
        return std::move(fine).error();
    const bool timed = what.reads.after_cluster_time || reads_committed(what);
    if (timed) {
        auto ready = check_read_time(node_, what);
        if (!ready || *ready != progress::done)
            return ready;
    }
    if (known->takes_write_concern && !what.concern.given && node_.member->in_set())
        what.concern = node_.member->default_concern();
    return known->run(node_, what, reply);
}

result<void> node_service::check_all(const command& known, request& what)
{
    if (auto fine = check_api(known, what); !fine)
        return fine;
    if (auto fine = check_login(node_, known, what); !fine)
        return fine;
    const bool again = what.admitted;  // it has waited, and was let in before
    what.admitted = true;
    if (node_.requests.enabled() && !again && !is_exempt(what) &&
        !node_.requests.admit(node_.now()))
        return refuse(server_code::ingress_request_rate_limit_exceeded,
                      "Request rate limit exceeded")
            .with_label("SystemOverloadedError")
            .with_label("RetryableError");
    if (auto fine = take_cluster_time(node_, what); !fine)
        return fine;
    if (auto fine = check_role(node_, known, what); !fine)
        return fine;
    if (auto fine = check_transaction_number(node_, known, what); !fine)
        return fine;
    if (what.session && !again)
        node_.touch_session(*what.session);
    return check_concerns(node_, known, what);
}

runtime::awaitable<result<void>> node_service::answer_later(request& what, bson::builder& reply)
{
    const auto answered = co_await node_.member->ask_primary(what);
    if (!answered)
        co_return answered.error();
    for (const bson::element& field : answered->view()) {
        if (field && field.key() != "topologyVersion")  // the primary's, not ours
            reply.copy(field);
    }
    what.forwarded = true;
    co_return result<void>{};
}

void node_service::close_reply(const request& what, bson::builder& reply)
{
    if (what.forwarded)
        return;
    reply.put("ok", 1.0);
    add_times(node_, reply);
}

void node_service::write_error(const request& what, const error& why, bson::builder& reply)
{
    const int code = code_of(why);
    const bool says_labels = node_.options.version >= labels_since;
    const bool own_label = says_labels && earns_retryable_label(what, code) &&
                           !why.has_label("RetryableWriteError");
    if (own_label || !why.labels().empty()) {
        auto labels = reply.array("errorLabels");
        for (const std::string& label : why.labels())
            labels.add(label);
        if (own_label)
            labels.add("RetryableWriteError");
    }
    const bool names_version = is_state_change_code(code) &&
                               (!what.injected ||
                                (is_not_primary_code(code) && node_.member->in_set()));
    if (names_version && says_labels)
        add_topology_version(node_, reply);
    reply.put("ok", 0.0);
    reply.add("errmsg", why.message()).add("code", code).add("codeName", code_name(code));
    add_details(why, reply);
    const bool overloaded = why.has_label("SystemOverloadedError") &&
                            why.has_label("RetryableError");
    if (overloaded && node_.base_backoff_ms > 0)
        reply.add("baseBackoffMS", node_.base_backoff_ms);
    add_times(node_, reply);
}

std::optional<injected_fault> node_service::fault_for(const request& what)
{
    if (!node_.faults.any() || node_.find_command(what.name) == nullptr)
        return std::nullopt;
    fault_target target;
    target.command = what.name;
    target.app_name = app_name_of(what);
    target.internal = what.client.internal;
    std::string ns;
    if (!what.body.empty()) {
        const bson::element first = *what.body.begin();
        if (first.type() == bson::type::string) {
            ns.append(what.database).append(1, '.').append(first.as_string());
            target.ns = ns;
        }
    }
    return node_.faults.on_command(target, node_.world.chance());
}

concern_state node_service::check_concern(const request& what)
{
    if (what.concern.given && !node_.member->accepts(what.concern))
        return concern_state::impossible;
    return node_.member->check(*what.wrote, what.concern);
}

error node_service::concern_failure(const request& what)
{
    if (auto refused = node_.member->accepts(what.concern); !refused)
        return std::move(refused).error();
    return service::concern_failure(what);
}

}  // namespace holdfast::lab::mongo
