#include "core/mongo/sdam/server_description.hpp"

#include "core/mongo/error/server_text.hpp"
#include "core/mongo/sdam/reply.hpp"
#include "core/mongo/settings/address.hpp"
#include "holdfast/bson/errc.hpp"

#include <compare>
#include <tuple>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// Of all tags together. They are kept, compared and given to listeners with each hello.
constexpr std::size_t max_reported_tags = std::size_t{64} * 1024;

/// Fields of a hello reply are read kindly: one that is absent, or of an unexpected type, keeps its
/// default, for a server that is a little odd is still worth talking to.
template <class T>
std::optional<T> optional_field(const bson::element& e)
{
    auto value = e.get<T>();
    return value ? std::optional<T>{*std::move(value)} : std::nullopt;
}

address_list addresses(const bson::element& e, const address_list& previous)
{
    if (e.type() != bson::type::array)
        return {};
    return address_list::parse(e.as_array(), previous);
}

std::optional<endpoint> address(const bson::element& e)
{
    if (e.type() != bson::type::string)
        return std::nullopt;
    return reported_address(e.as_string());
}

tag_set tags(const bson::element& e)
{
    tag_set found;
    if (e.type() != bson::type::document)
        return found;
    for (const bson::element& tag : e.as_document()) {
        if (tag.type() == bson::type::string)
            found.emplace(tag.key(), tag.as_string());
    }
    return found;
}

/// What the reply's flags make of the server; they are spread over the document.
struct role {
    std::optional<bool> writable_primary = {};
    bool legacy_primary = false;  // counts only where the other is not said
    bool secondary = false;
    bool arbiter = false;
    bool hidden = false;
    bool ghost = false;
    bool mongos = false;

    server_type type(bool has_set_name) const noexcept
    {
        if (mongos)
            return server_type::mongos;
        if (ghost)
            return server_type::rs_ghost;
        if (!has_set_name)
            return server_type::standalone;
        if (writable_primary.value_or(legacy_primary))
            return server_type::rs_primary;
        if (hidden)
            return server_type::rs_other;
        if (secondary)
            return server_type::rs_secondary;
        return arbiter ? server_type::rs_arbiter : server_type::rs_other;
    }
};

bool read_role(const bson::element& e, role& r)
{
    const std::string_view key = e.key();
    if (key == "isWritablePrimary")
        r.writable_primary = is_true(e);
    else if (key == "ismaster")
        r.legacy_primary = is_true(e);
    else if (key == "secondary")
        r.secondary = is_true(e);
    else if (key == "arbiterOnly")
        r.arbiter = is_true(e);
    else if (key == "hidden")
        r.hidden = is_true(e);
    else if (key == "isreplicaset")
        r.ghost = is_true(e);
    else if (key == "msg")
        r.mongos = e.type() == bson::type::string && e.as_string() == "isdbgrid";
    else
        return false;
    return true;
}

bool read_membership(const bson::element& e, server_description& s,
                     const server_description& before)
{
    const std::string_view key = e.key();
    if (key == "hosts")
        s.hosts = addresses(e, before.hosts);
    else if (key == "passives")
        s.passives = addresses(e, before.passives);
    else if (key == "arbiters")
        s.arbiters = addresses(e, before.arbiters);
    else if (key == "me")
        s.me = address(e);
    else if (key == "primary")
        s.primary = address(e);
    else if (key == "setName")
        s.set_name = optional_field<std::string>(e);
    else if (key == "setVersion")
        s.set_version = optional_field<std::int64_t>(e);
    else if (key == "electionId")
        s.election_id = optional_field<bson::object_id>(e);
    else if (key == "tags")
        s.tags = tags(e);
    else
        return false;
    return true;
}

void read_rest(const bson::element& e, server_description& s)
{
    const std::string_view key = e.key();
    if (key == "minWireVersion")
        s.min_wire_version = optional_field<std::int32_t>(e).value_or(0);
    else if (key == "maxWireVersion")
        s.max_wire_version = optional_field<std::int32_t>(e).value_or(0);
    else if (key == "logicalSessionTimeoutMinutes")
        s.logical_session_timeout_minutes = optional_field<std::int32_t>(e);
    else if (key == "iscryptd")
        s.is_cryptd = is_true(e);
    else if (key == "serviceId")
        s.service_id = optional_field<bson::object_id>(e);
    else if (key == "lastWrite" && e.type() == bson::type::document) {
        s.last_write_date = optional_field<bson::datetime>(e.as_document()["lastWriteDate"]);
        s.op_time = optional_field<bson::document>(e.as_document()["opTime"]);
    }
}

error refused(bson::view reply)
{
    const bson::element message = reply["errmsg"];
    const auto code = optional_field<std::int32_t>(reply["code"]);
    std::string text = "hello failed: " + (message.type() == bson::type::string
                                               ? limited_text(message.as_string())
                                               : "the reply lacks ok: 1");
    if (code)
        text += " (code " + std::to_string(*code) + ")";
    return error{bson::errc::invalid_value, std::move(text)};
}

/// The number of hosts in a reply; 0 if the lists are too short to hold more than are accepted.
std::size_t count_hosts(bson::view reply)
{
    constexpr std::size_t smallest_item = 8;  // its type, "0", and an empty string
    std::size_t bytes = 0;
    std::size_t count = 0;
    const bson::element lists[] = {reply["hosts"], reply["passives"], reply["arbiters"]};
    for (const bson::element& list : lists)
        bytes += list.type() == bson::type::array ? list.as_array().bytes().size() : 0;
    if (bytes <= max_reported_hosts * smallest_item) [[likely]]
        return 0;
    for (const bson::element& list : lists) {
        if (list.type() != bson::type::array)
            continue;
        for (const bson::element& item : list.as_array())
            count += item.type() == bson::type::string;
    }
    return count;
}

std::size_t longest_name(bson::view reply)
{
    std::size_t longest = 0;
    const auto look_at = [&](const bson::element& e) {
        if (e.type() == bson::type::string)
            longest = std::max(longest, e.as_string().size());
    };
    for (const char* const field : {"setName", "me", "primary"})
        look_at(reply[field]);
    for (const char* const field : {"hosts", "passives", "arbiters"}) {
        const bson::element list = reply[field];
        if (list.type() != bson::type::array || list.as_array().bytes().size() <= max_reported_name)
            continue;
        for (const bson::element& item : list.as_array())
            look_at(item);
    }
    return longest;
}

/// What in a reply is beyond its limit.
std::optional<error> excess(bson::view reply)
{
    const auto beyond = [](std::string what, std::size_t limit) {
        return error{bson::errc::invalid_value, "hello " + std::move(what) + ", at most " +
                                                    std::to_string(limit) + " are accepted"};
    };
    if (const std::size_t count = count_hosts(reply); count > max_reported_hosts)
        return beyond("lists " + std::to_string(count) + " hosts", max_reported_hosts);
    if (const std::size_t longest = longest_name(reply); longest > max_reported_name)
        return beyond("has a name of " + std::to_string(longest) + " bytes", max_reported_name);
    const bson::element tags = reply["tags"];
    const std::size_t bytes = tags.type() == bson::type::document
                                  ? tags.as_document().bytes().size()
                                  : 0;
    if (bytes > max_reported_tags)
        return beyond("has tags of " + std::to_string(bytes) + " bytes", max_reported_tags);
    return std::nullopt;
}

}  // namespace

std::string_view name_of(server_type type) noexcept
{
    switch (type) {
    case server_type::unknown:
        return "Unknown";
    case server_type::standalone:
        return "Standalone";
    case server_type::mongos:
        return "Mongos";
    case server_type::possible_primary:
        return "PossiblePrimary";
    case server_type::rs_primary:
        return "RSPrimary";
    case server_type::rs_secondary:
        return "RSSecondary";
    case server_type::rs_arbiter:
        return "RSArbiter";
    case server_type::rs_other:
        return "RSOther";
    case server_type::rs_ghost:
        return "RSGhost";
    case server_type::load_balancer:
        return "LoadBalancer";
    }
    return "Unknown";
}

int compare(const std::optional<topology_version>& current,
            const std::optional<topology_version>& reported) noexcept
{
    if (!current || !reported || current->process_id != reported->process_id)
        return -1;
    const auto order = current->counter <=> reported->counter;
    return order < 0 ? -1 : order > 0;
}

bool operator==(const server_description& a, const server_description& b) noexcept
{
    const auto same_failure = [&] {
        if (!a.failure || !b.failure)
            return !a.failure == !b.failure;
        return a.failure->code() == b.failure->code() &&
               a.failure->message() == b.failure->message();
    };
    const auto published = [](const server_description& s) {
        return std::tie(s.address, s.min_wire_version, s.max_wire_version, s.me, s.hosts,
                        s.passives, s.arbiters, s.tags, s.set_name, s.election_id, s.set_version,
                        s.primary, s.logical_session_timeout_minutes, s.version, s.is_cryptd);
    };
    // Who is only said to be the primary is as unknown as before.
    const bool same_type = a.type == b.type || (is_unknown(a.type) && is_unknown(b.type));
    return same_type && published(a) == published(b) && same_failure();
}

server_description unknown_server(endpoint address, std::optional<error> failure,
                                  std::optional<topology_version> version, time_point now)
{
    server_description s;
    s.address = std::move(address);
    s.failure = std::move(failure);
    s.version = version;
    s.last_update_time = now;
    return s;
}

std::optional<topology_version> parse_topology_version(bson::view reply)
{
    const bson::element e = reply["topologyVersion"];
    if (e.type() != bson::type::document)
        return std::nullopt;
    const auto process = optional_field<bson::object_id>(e.as_document()["processId"]);
    const auto counter = optional_field<std::int64_t>(e.as_document()["counter"]);
    if (!process || !counter)
        return std::nullopt;
    return topology_version{*process, *counter};
}

server_description parse_hello(endpoint address, bson::view reply, round_trip_times rtt,
                               time_point now, const server_description* before)
{
    static const server_description nothing;
    if (!is_ok(reply))
        return unknown_server(std::move(address), refused(reply), parse_topology_version(reply),
                              now);
    if (auto why = excess(reply)) [[unlikely]]
        return unknown_server(std::move(address), *std::move(why), parse_topology_version(reply),
                              now);
    server_description s;
    s.address = std::move(address);
    s.last_update_time = now;
    s.round_trip_time = rtt.average;
    s.min_round_trip_time = rtt.minimum;
    role flags;
    for (const bson::element& e : reply) {
        if (!read_role(e, flags) && !read_membership(e, s, before ? *before : nothing))
            read_rest(e, s);
    }
    s.version = parse_topology_version(reply);
    s.type = flags.type(s.set_name.has_value());
    return s;
}

}  // namespace holdfast::core::mongo
