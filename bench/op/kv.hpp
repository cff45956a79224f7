#pragma once
#include "holdfast/couchbase/cluster.hpp"
#include "order.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <memory>
#include <string>
#include <string_view>

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
        R"("hub":"AMS","callsign":"KLM","alliance":"SkyTeam"})"};
    return made;
}
inline constexpr std::string_view kv_key = "airline_000000001";

inline asio::awaitable<void> kv_worker(couchbase::collection in, bool writes, tally& all)
{
    while (all.begin_another()) {
        try {
            if (writes) {
                const auto stored = co_await in.upsert(kv_key, kv_document());
                all.checksum += stored.cas.value != 0;
            } else {
                const auto found = co_await in.get(kv_key);
                all.checksum += static_cast<std::int64_t>(found.content.text().size());
            }
            ++all.done;
        } catch (const failure& failed) {
            all.failure = failed.error().explain();
        }
    }
}

inline asio::awaitable<void> kv_bench(couchbase::cluster with, const order& what, tally& all)
{
    const auto documents = with["default"].default_collection();
    bool is_ready = true;
    try {
        co_await with["default"].ready();
        co_await documents.upsert(kv_key, kv_document());
    } catch (const failure& failed) {
        all.failure = failed.error().explain();
        is_ready = false;
    }
    if (!is_ready) {
        co_await with.close();
        co_return;
    }
    const auto here = co_await asio::this_coro::executor;
    const auto running = std::make_shared<std::uint32_t>(what.concurrency);
    all.began = tally::clock::now();
    for (std::uint32_t n = 0; n < what.concurrency; ++n) {
        auto ended = [&all, running, with, here](std::exception_ptr) {
            if (--*running > 0)
                return;
            all.ended = tally::clock::now();
            asio::co_spawn(here, with.close(), [](std::exception_ptr) {});
        };
        asio::co_spawn(here, kv_worker(documents, what.operation == "kv_upsert", all),
                       std::move(ended));
    }
}

inline void run_kv(const order& what, tally& all)
{
    couchbase::cluster_options options;
    couchbase::password login;
    login.user = what.user;
    login.text = secret{what.password};
    options.authenticator = std::move(login);
    asio::io_context loop{1};
    couchbase::cluster with{loop.get_executor(), what.uri, std::move(options)};
    asio::co_spawn(loop, kv_bench(with, what, all), [](std::exception_ptr) {});
    loop.run();
}

}  // namespace holdfast::bench
