#include "lab/couchbase/search/search_engine.hpp"

#include "lab/couchbase/fts/search_run.hpp"
#include "lab/couchbase/search/search_replies.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

std::string partition_of(const std::string& index, const search_index& of)
{
    return index + "_" + of.uuid + "_00000000";
}

/// The members of a reply that all have.
json::object reply_object(const search_request& of, const json::value& sent, json::object status)
{
    json::object made{{"status", std::move(status)}};
    if (of.shows_request)
        made["request"] = sent;
    return made;
}

/// The index has not come as far as it should have in time.
http_reply late_reply(const search_request& what, const json::value& sent,
                      const std::string& partition)
{
    json::object errors;
    errors[partition] = "context deadline exceeded";
    json::object made = reply_object(what, sent, {{"total", 1},
                                            {"failed", 1},
                                            {"successful", 0},
                                            {"errors", std::move(errors)}});
    made["hits"] = nullptr;
    made["total_hits"] = 0;
    made["max_score"] = 0;
    made["took"] = std::chrono::duration_cast<std::chrono::nanoseconds>(what.timeout).count();
    made["facets"] = nullptr;
    return search_reply(made);
}

}  // namespace

/// One search on its way.
struct search_engine::pending_search {
    search_request what = {};
    json::value sent = {};
    std::string index = {};  // its full name
    index_positions wanted = {};
    time_point began = {};
};

search_engine::search_engine(cluster& of, std::size_t number, runtime::world& in)
    : on_{of}, world_{in}, index_{of, number, in}
{
}

search_definitions& search_engine::definitions()
{
    return on_.admin().definitions<search_definitions>("fts");
}

search_index* search_engine::find(const std::string& full_name)
{
    auto& all = definitions().indexes;
    const auto found = all.find(full_name);
    if (found == all.end())
        return nullptr;
    const bucket_layout* const bucket = on_.layout(found->second.bucket);
    if (bucket && bucket->uuid == found->second.bucket_uuid)
        return &found->second;
    all.erase(found);  // with its bucket
    return nullptr;
}

void search_engine::each_document(
    const search_index& of, const std::vector<std::string>& collections,
    const std::function<void(const std::string&, const document&)>& take)
{
    const index_copy* const copy = index_.of(of.bucket);
    for (const scope_entry& scope : on_.admin().collections(of.bucket)->scopes()) {
        for (const collection_entry& one : scope.collections) {
            const bool known = std::ranges::any_of(of.keyspaces, [&](const auto& keyspace) {
                return keyspace.first == scope.name &&
                       (keyspace.second.empty() || keyspace.second == one.name);
            });
            const bool wanted = collections.empty() ||
                                std::ranges::find(collections, one.name) != collections.end();
            if (known && wanted)
                copy->each(one.id, world_.wall_now(), take);
        }
    }
}

http_reply search_engine::search(const search_index_name& name, const http_request& request)
{
    const search_index* const found = find(name.full());
    if (!found)
        return search_index_missing(request);
    const std::string begin = "rest_index: Query, indexName: " + name.full() + ", err: ";
    auto pending = std::make_shared<pending_search>();
    boost::system::error_code wrong;
    pending->sent = json::parse({request.body.data(), request.body.size()}, wrong);
    if (wrong)
        return search_failure(begin + "bleve: QueryBleve parsing searchRequest, err: no JSON",
                              request);
    auto read = read_search_request(pending->sent);
    if (!read)
        return search_failure(
            begin + "bleve: QueryBleve parsing searchRequest, err: " + read.error().message(),
            request);
    pending->what = *std::move(read);
    pending->index = name.full();
    pending->began = world_.steady_now();
    for (const std::string& one : {name.name, pending->index}) {
        const auto positions = pending->what.consistency.find(one);
        if (positions == pending->what.consistency.end())
            continue;
        for (const wanted_position& at : positions->second)
            pending->wanted[at.vbucket] = {at.uuid, at.seqno};
    }
    if (const auto vbucket = index_.mismatched(found->bucket, pending->wanted))
        return search_failure(begin + "bleve: pindex_consistency mismatched partition, vbucket: " +
                                  std::to_string(*vbucket),
                              request);
    if (auto done = go_on(*pending))
        return *std::move(done);
    http_reply made;
    made.later = [this, pending] { return go_on(*pending); };
    return made;
}

std::optional<http_reply> search_engine::go_on(const pending_search& what)
{
    const search_index* const on = find(what.index);
    if (!on)
        return search_index_missing({});
    if (index_.has(on->bucket, what.wanted))
        return run(what, *on);
    if (world_.steady_now() - what.began >= what.what.timeout)
        return late_reply(what.what, what.sent, partition_of(what.index, *on));
    return std::nullopt;
}

http_reply search_engine::run(const pending_search& what, const search_index& on)
{
    search_run matching{what.what, partition_of(what.index, on)};
    each_document(on, what.what.collections, [&](const std::string& id, const document& content) {
        boost::system::error_code wrong;
        json::value body = json::parse({content.value.data(), content.value.size()}, wrong);
        if (!wrong)
            matching.add({id, std::move(body)});
    });
    json::object made = reply_object(what.what, what.sent,
                                     {{"total", 1}, {"failed", 0}, {"successful", 1}});
    for (auto& [name, value] : matching.finish())
        made[name] = std::move(value);
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(world_.steady_now() -
                                                                           what.began);
    made["took"] = took.count();
    return search_reply(made);
}

}  // namespace holdfast::lab::couchbase
