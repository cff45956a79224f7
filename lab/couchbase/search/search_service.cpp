#include "lab/couchbase/search/search_service.hpp"

#include "lab/couchbase/cluster/node_service.hpp"
#include "lab/couchbase/search/search_engine.hpp"
#include "lab/couchbase/search/search_replies.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include <array>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

constexpr std::size_t most_indexes = 1'000;

json::string text_of(std::string_view text)
{
    return json::string{text.data(), text.size()};
}

class search_service final : public node_service {
public:
    search_service(cluster& of, std::size_t number, runtime::world& in)
        : node_service{of, number, "fts", in}, engine_{of, number, in}
    {
    }

    http_reply answer(const http_request& what) override;

private:
    struct call {
        const http_request& request;
        std::string user = {};
        search_index_name name = {};
    };
    struct route {
        std::string_view method;
        std::string_view path;  // a bucket and a scope, or neither, and perhaps an index
        http_reply (search_service::*answer)(const call& what);
    };
    static const route routes[];

    http_reply ping(const call& what);
    http_reply list(const call& what);
    http_reply define(const call& what);
    http_reply show(const call& what);
    http_reply drop(const call& what);
    http_reply count(const call& what);
    http_reply query(const call& what);

    /// Of an index that the user may use; null, and what to answer.
    search_index* open(const call& what, http_reply& refused);
    http_reply forbidden(const std::string& bucket) const;
    std::string draw_uuid();

    search_engine engine_;
};

const search_service::route search_service::routes[] = {
    {"GET", "/api/ping", &search_service::ping},
    {"GET", "/api/index", &search_service::list},
    {"PUT", "/api/index/*", &search_service::define},
    {"GET", "/api/index/*", &search_service::show},
    {"DELETE", "/api/index/*", &search_service::drop},
    {"GET", "/api/index/*/count", &search_service::count},
    {"POST", "/api/index/*/query", &search_service::query},
    {"GET", "/api/bucket/*/scope/*/index", &search_service::list},
    {"PUT", "/api/bucket/*/scope/*/index/*", &search_service::define},
    {"GET", "/api/bucket/*/scope/*/index/*", &search_service::show},
    {"DELETE", "/api/bucket/*/scope/*/index/*", &search_service::drop},
    {"GET", "/api/bucket/*/scope/*/index/*/count", &search_service::count},
    {"POST", "/api/bucket/*/scope/*/index/*/query", &search_service::query},
};

http_reply search_service::answer(const http_request& what)
{
    for (const route& one : routes) {
        auto names = match_path(one.path, what.parts);
        if (!names || one.method != what.method)
            continue;
        call made{what};
        auto user = user_of(what);
        if (!user)
            return ask_for_login();
        made.user = *std::move(user);
        if (names->size() >= 2) {
            made.name.bucket = (*names)[0];
            made.name.scope = (*names)[1];
        }
        if (names->size() % 2 == 1)
            made.name.name = names->back();
        return (this->*one.answer)(made);
    }
    return search_failure("Page not found", what, 404);
}

http_reply search_service::ping(const call&)
{
    return {};
}

http_reply search_service::forbidden(const std::string& bucket) const
{
    return search_reply(
        {{"message", "Forbidden. User needs one of the following permissions"},
         {"permissions", json::array{text_of("cluster.bucket[" + bucket + "].fts!read")}},
         {"status", "fail"},
         {"error", "rest_auth: forbidden"}},
        403);
}

search_index* search_service::open(const call& what, http_reply& refused)
{
    search_index* const found = engine_.find(what.name.full());
    if (!found)
        refused = search_index_missing(what.request);
    else if (!may_open(what.user, found->bucket))
        refused = forbidden(found->bucket);
    else
        return found;
    return nullptr;
}

http_reply search_service::list(const call& what)
{
    json::object all;
    std::vector<std::string> names;
    for (const auto& [name, one] : engine_.definitions().indexes)
        names.push_back(name);
    for (const std::string& name : names) {
        const search_index* const one = engine_.find(name);
        const bool of_scope = what.name.bucket.empty() ||
                              name.starts_with(what.name.bucket + "." + what.name.scope + ".");
        if (one && of_scope && may_open(what.user, one->bucket))
            all[name] = one->definition;
    }
    return search_reply({{"status", "ok"},
                     {"indexDefs", json::object{{"uuid", "0"},
                                                {"indexDefs", std::move(all)},
                                                {"implVersion", "5.7.0"}}}});
}

std::string search_service::draw_uuid()
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<std::uint8_t, 8> bytes{};
    world_.random(bytes);
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

http_reply search_service::define(const call& what)
{
    const std::string name = what.name.full();
    const auto refuse_it = [&](const std::string& why) {
        return search_failure("rest_create_index: error creating index: " + name +
                                  ", err: manager_api: " + why,
                              what.request);
    };
    boost::system::error_code wrong;
    json::value sent = json::parse({what.request.body.data(), what.request.body.size()}, wrong);
    if (wrong || !sent.is_object())
        return refuse_it("the definition is no JSON object");
    json::object& definition = sent.get_object();
    const auto text_in = [&](const char* member) {
        const json::value* const found = definition.if_contains(member);
        const json::string* const text = found ? found->if_string() : nullptr;
        return text ? std::string{text->data(), text->size()} : std::string{};
    };
    if (text_in("type") != "fulltext-index")
        return refuse_it("the lab has indexes of the type fulltext-index only");
    const std::string bucket = what.name.bucket.empty() ? text_in("sourceName") : what.name.bucket;
    const bucket_layout* const layout = on_.layout(bucket);
    if (!layout)
        return refuse_it("failed to connect to or retrieve information from source, sourceName: " +
                         bucket);
    if (!may_open(what.user, bucket))
        return forbidden(bucket);
    search_index* const before = engine_.find(name);
    if (before && text_in("uuid") != before->uuid)
        return refuse_it(
            text_in("uuid").empty()
                ? "cannot create index because an index with the same name already exists: " + name
                : "index UUID mismatched: " + name);
    if (!before && engine_.definitions().indexes.size() == most_indexes)
        return refuse_it("num_fts_indexes (active + pending) >= 1000");
    search_index made{bucket, layout->uuid, draw_uuid(), {}, keyspaces_of(definition, what.name)};
    definition["name"] = text_of(name);
    definition["uuid"] = text_of(made.uuid);
    definition["sourceName"] = text_of(bucket);
    definition["sourceUUID"] = text_of(layout->uuid);
    made.definition = std::move(definition);
    const std::string uuid = made.uuid;
    engine_.definitions().indexes[name] = std::move(made);
    return search_reply({{"status", "ok"}, {"name", text_of(name)}, {"uuid", text_of(uuid)}});
}

http_reply search_service::show(const call& what)
{
    http_reply refused;
    const search_index* const found = open(what, refused);
    if (!found)
        return refused;
    return search_reply(
        {{"status", "ok"}, {"indexDef", found->definition}, {"planPIndexes", nullptr}});
}

http_reply search_service::drop(const call& what)
{
    http_reply refused;
    if (!open(what, refused))
        return refused;
    engine_.definitions().indexes.erase(what.name.full());
    return search_reply({{"status", "ok"}});
}

http_reply search_service::count(const call& what)
{
    http_reply refused;
    const search_index* const found = open(what, refused);
    if (!found)
        return refused;
    std::size_t documents = 0;
    engine_.each_document(*found, {}, [&](const std::string&, const document&) { ++documents; });
    return search_reply({{"status", "ok"}, {"count", documents}});
}

http_reply search_service::query(const call& what)
{
    http_reply refused;
    if (!open(what, refused))
        return refused;
    return engine_.search(what.name, what.request);
}

}  // namespace

std::unique_ptr<http_service> make_search_service(cluster& of, std::size_t number,
                                                  runtime::world& in)
{
    return std::make_unique<search_service>(of, number, in);
}

}  // namespace holdfast::lab::couchbase
