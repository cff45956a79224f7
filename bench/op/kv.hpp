#pragma once
#include "crud.hpp"
#include "holdfast/couchbase/cluster.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "order.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Key-value operations of one cluster object: all workers share its connections.
namespace holdfast::bench {

inline bool is_kv(const order& what)
{
    return what.operation == "kv_get" || what.operation == "kv_upsert";
}

/// 128 bytes of JSON, and a key of 17.
inline const couchbase::raw_json& kv_document()
{
    static const couchbase::raw_json made{
        R"({"name":"Koninklijke Luchtvaart Maatschappij","country":"NL","fleet":110,)"
        R"("hub":"AMS","callsign":"KLM","alliance":"SkyTeam.aero"})"};
    return made;
}
inline constexpr std::string_view kv_key = "airline_000000001";

/// The default collection, or as many others as the order says, which take turns.
template <class Bucket>
auto kv_collections(const Bucket& in, const order& what)
{
    std::vector<decltype(in.default_collection())> all;
    if (what.collections == 0)
        all.push_back(in.default_collection());
    for (std::uint32_t n = 0; n < what.collections; ++n)
        all.push_back(in.collection("c" + std::to_string(n)));
    return all;
}

inline bool writes(const order& what)
{
    return what.operation == "kv_upsert";
}

inline asio::awaitable<void> kv_worker(const std::vector<couchbase::collection>& documents,
                                       bool is_upsert, tally& all)
{
    while (all.begin_another()) {
        const couchbase::collection& in = documents[all.begun % documents.size()];
        if (is_upsert) {
            const auto stored = co_await in.upsert(kv_key, kv_document());
            all.checksum += stored.cas.value != 0;
        } else {
            const auto found = co_await in.get(kv_key);
            all.checksum += static_cast<std::int64_t>(found.content.text().size());
        }
        ++all.done;
    }
}

/// Opens what is used; the first operation of a collection is not what is measured.
inline asio::awaitable<void> kv_open(const couchbase::cluster& with,
                                     const std::vector<couchbase::collection>& documents)
{
    co_await with["default"].ready();
    for (const couchbase::collection& one : documents)
        co_await one.upsert(kv_key, kv_document());
}

inline asio::awaitable<void> disconnect(const couchbase::cluster& with)
{
    co_await with.close();
}

inline couchbase::cluster_options kv_options(const order& what)
{
    couchbase::cluster_options options;
    couchbase::password login;
    login.user = what.user;
    login.text = secret{what.password};
    options.authenticator = std::move(login);
    return options;
}

inline void run_kv(const order& what, tally& all)
{
    asio::io_context loop{1};
    const couchbase::cluster with{loop.get_executor(), what.uri, kv_options(what)};
    const auto documents = kv_collections(with["default"], what);
    std::uint32_t running = what.concurrency;
    const auto ended = [&](const std::exception_ptr& thrown) {
        note_failure(all, thrown);
        if (--running > 0)
            return;
        all.ended = tally::clock::now();
        asio::co_spawn(loop, disconnect(with), [](const std::exception_ptr&) {});
    };
    asio::co_spawn(loop, kv_open(with, documents), [&](const std::exception_ptr& thrown) {
        note_failure(all, thrown);
        all.began = tally::clock::now();
        for (std::uint32_t n = 0; n < what.concurrency; ++n)
            asio::co_spawn(loop, kv_worker(documents, writes(what), all), ended);
    });
    loop.run();
}

inline void run_kv_blocking(const order& what, tally& all)
try {
    const couchbase::sync::cluster with{what.uri, kv_options(what)};
    const auto documents = kv_collections(with["default"], what);
    for (const auto& one : documents)
        one.upsert(kv_key, kv_document());
    all.began = tally::clock::now();
    for (; all.begin_another(); ++all.done) {
        const auto& in = documents[all.begun % documents.size()];
        if (writes(what))
            all.checksum += in.upsert(kv_key, kv_document()).cas.value != 0;
        else
            all.checksum += static_cast<std::int64_t>(in.get(kv_key).content.text().size());
    }
    all.ended = tally::clock::now();
} catch (...) {
    note_failure(all, std::current_exception());
}

}  // namespace holdfast::bench
