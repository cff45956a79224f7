#include "sdam_outcome.hpp"

#include "case_fields.hpp"
#include "core/mongo/settings/address.hpp"
#include "sdam_json.hpp"

namespace holdfast::spec {

using namespace core::mongo;
namespace json = boost::json;

namespace {

void demand_same(const json::value& expected, const json::value& found, std::string_view what)
{
    demand(expected == found, std::string{what} + ": expected " + json::serialize(expected) +
                                  ", found " + json::serialize(found));
}

/// Each field that the file states is looked up in what was found; one that is not there would be
/// a demand that is not checked.
void demand_stated(const json::object& expected, const json::object& found, std::string_view what)
{
    for (const auto& [key, value] : expected) {
        const json::value* const at = found.if_contains(key);
        const std::string path = std::string{what} + "." + std::string{key};
        demand(at != nullptr, "the runner does not know what this field demands: " + path);
        demand_same(value, *at, path);
    }
}

/// The error of a server is stated by the beginning of its text.
void check_error(const json::value& expected, const server_description& s)
{
    const std::string found = s.failure ? s.failure->message() : "";
    const std::string wanted{expected.as_string()};
    demand(found.find(wanted) != found.npos, s.address.value() + ".error: expected \"" + wanted +
                                                 "\" in it, found \"" + found + "\"");
}

void check_pool(const json::object& expected, const endpoint& server,
                const core::connection_pool* pool)
{
    demand(pool != nullptr, server.value() + " has no pool");
    demand_stated(expected, {{"generation", pool->generation()}}, server.value() + ".pool");
}

void check_server(json::object expected, const server_description& s, const sdam_client& client)
{
    if (const json::value* const pool = expected.if_contains("pool")) {
        check_pool(pool->as_object(), s.address, client.pool(s.address));
        expected.erase("pool");
    }
    if (const json::value* const why = expected.if_contains("error")) {
        check_error(*why, s);
        expected.erase("error");
    }
    demand_stated(expected, to_text(s), s.address.value());
}

}  // namespace

void check_outcome(const json::object& expected, const sdam_client& client)
{
    const topology_description& t = client.topology();
    json::object stated = expected;
    stated.erase("events");
    if (const json::value* const servers = expected.if_contains("servers")) {
        json::object wanted = servers->as_object();
        for (const server_ptr& s : t.servers) {
            const auto at = std::ranges::find_if(
                wanted, [&](const auto& one) { return reported_address(one.key()) == s->address; });
            demand(at != wanted.end(), "unexpected server " + s->address.value());
            check_server(at->value().as_object(), *s, client);
            wanted.erase(at);
        }
        demand(wanted.empty(), "servers are missing: " + json::serialize(wanted));
        stated.erase("servers");
    }
    demand_stated(stated, to_text(t), "topology");
}

void check_events(const json::array& expected, std::span<const sdam_event> found)
{
    json::array received;
    for (const sdam_event& e : found)
        received.push_back(to_text(e));
    for (std::size_t i = 0; i < expected.size() && i < received.size(); ++i)
        demand(says(expected[i], received[i]), "event " + std::to_string(i + 1) + ": expected " +
                                                   json::serialize(expected[i]) + ", found " +
                                                   json::serialize(received[i]));
    demand(expected.size() == received.size(), "expected " + std::to_string(expected.size()) +
                                                   " events, found " + json::serialize(received));
}

}  // namespace holdfast::spec
