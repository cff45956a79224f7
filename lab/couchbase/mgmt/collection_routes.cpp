#include "lab/couchbase/mgmt/routes.hpp"

#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// The answer after a change: the uid of the new manifest, or why there is none. The texts are
/// those by which clients distinguish the cases.
http_reply manifest_reply(const route_call& call, manifest_change change, const std::string& scope,
                          const std::string& collection)
{
    const std::string of_scope = "Scope with name \"" + scope + "\"";
    const std::string of_collection = "Collection with name \"" + collection + "\" in scope \"" +
                                      scope + "\"";
    const bool about_scope = collection.empty();
    switch (change) {
    case manifest_change::done:
        return json_reply(boost::json::object{
            {"uid", json_text(call.on.admin().collections(call.names[0])->uid_text())}});
    case manifest_change::exists:
        return wrong_field("_", (about_scope ? of_scope : of_collection) + " already exists");
    case manifest_change::no_scope:
        return refuse(404, of_scope + " is not found");
    case manifest_change::no_collection:
        return refuse(404, of_collection + " is not found");
    case manifest_change::invalid_name:
        return wrong_field("name", "this name is not allowed");
    }
    return {};
}

/// Nothing if the bucket does not exist.
template <class Change>
http_reply change_route(route_call& call, const std::string& scope, const std::string& collection,
                        Change change)
{
    if (!call.on.has_bucket(call.names[0]))
        return refuse(404, "Requested resource not found.");
    return manifest_reply(call, change(), scope, collection);
}

std::optional<collection_limits> read_limits(const route_call& call)
{
    collection_limits limits;
    if (const std::string text = call.field("maxTTL"); !text.empty()) {
        std::int64_t seconds = 0;
        const char* const end = text.data() + text.size();
        const auto [last, why] = std::from_chars(text.data(), end, seconds);
        constexpr std::int64_t longest = 2147483647;
        if (why != std::errc{} || last != end || seconds < -1 || seconds > longest)
            return std::nullopt;
        limits.max_ttl = seconds;
    }
    if (const std::string text = call.field("history"); !text.empty())
        limits.history = text == "true";
    return limits;
}

http_reply list_scopes(route_call& call)
{
    const manifest* const all = call.on.admin().collections(call.names[0]);
    if (!all)
        return refuse(404, "Requested resource not found.");
    http_reply made;
    made.body = all->text();
    return made;
}

http_reply create_scope_route(route_call& call)
{
    const std::string name = call.field("name");
    return change_route(call, name, "", [&] { return call.on.create_scope(call.names[0], name); });
}

http_reply drop_scope_route(route_call& call)
{
    return change_route(call, call.names[1], "",
                        [&] { return call.on.drop_scope(call.names[0], call.names[1]); });
}

http_reply create_collection_route(route_call& call)
{
    const std::string name = call.field("name");
    const auto limits = read_limits(call);
    if (!limits)
        return wrong_field("maxTTL", "it is a number of seconds, 0 or -1");
    return change_route(call, call.names[1], name, [&] {
        return call.on.admin().create_collection(call.names[0], call.names[1], name, *limits);
    });
}

http_reply change_collection_route(route_call& call)
{
    const auto limits = read_limits(call);
    if (!limits)
        return wrong_field("maxTTL", "it is a number of seconds, 0 or -1");
    return change_route(call, call.names[1], call.names[2], [&] {
        return call.on.admin().change_collection(call.names[0], call.names[1], call.names[2],
                                                 *limits);
    });
}

http_reply drop_collection_route(route_call& call)
{
    return change_route(call, call.names[1], call.names[2], [&] {
        return call.on.drop_collection(call.names[0], call.names[1], call.names[2]);
    });
}

constexpr route collection_table[] = {
    {"GET", "/pools/default/buckets/*/scopes", access::login, list_scopes},
    {"POST", "/pools/default/buckets/*/scopes", access::administrator, create_scope_route},
    {"DELETE", "/pools/default/buckets/*/scopes/*", access::administrator, drop_scope_route},
    {"POST", "/pools/default/buckets/*/scopes/*/collections", access::administrator,
     create_collection_route},
    {"PATCH", "/pools/default/buckets/*/scopes/*/collections/*", access::administrator,
     change_collection_route},
    {"DELETE", "/pools/default/buckets/*/scopes/*/collections/*", access::administrator,
     drop_collection_route},
};

}  // namespace

std::span<const route> collection_routes()
{
    return collection_table;
}

}  // namespace holdfast::lab::couchbase
