#pragma once
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "order.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

/// The operations that applications use most, as the programs of other drivers do them: what is
/// inserted has no _id, a batch has 1000 documents. Each is written as an application would.
namespace holdfast::bench {

namespace asio = boost::asio;

inline constexpr std::size_t documents_in_insert = 1000;
inline const mongo::find_options in_batches{.batch_size = 1000};

/// What is sent, made before anything is counted.
struct crud_work {
    explicit crud_work(const order& what)
    {
        if (what.document.empty()) {
            small = bson::doc("a", 1, "b", "hello");
        } else {
            std::ifstream file{what.document};
            const std::string text{std::istreambuf_iterator<char>{file}, {}};
            small = bson::from_json(text).value();
        }
        many.assign(documents_in_insert, small.view());
    }

    bson::document small;
    std::vector<bson::view> many;
};

/// The first field, which is the _id.
inline std::int64_t read_id(bson::view document) noexcept
{
    const bson::element id = *document.begin();
    return id.type() == bson::type::int64 ? id.as_int64() : 0;
}

inline void read(tally& all, bson::view document)
{
    ++all.documents;
    all.checksum += read_id(document);
}

/// Not inside a coroutine, which keeps its variables in memory rather than in registers.
[[gnu::noinline]] inline void read_all(tally& all, mongo::batch_view batch)
{
    std::uint64_t count = 0;
    std::int64_t sum = 0;
    for (const bson::view one : batch) {
        ++count;
        sum += read_id(one);
    }
    all.documents += count;
    all.checksum += sum;
}

inline bson::document id_of_turn(const tally& all)
{
    return bson::doc("_id", static_cast<std::int64_t>(all.begun));
}

// ---- Coroutines: any number of each may share the work ----

inline asio::awaitable<void> insert_one(mongo::collection in, const crud_work& work, tally& all)
{
    while (all.begin_another()) {
        co_await in.insert_one(work.small);
        ++all.done;
    }
}

inline asio::awaitable<void> insert_many(mongo::collection in, const crud_work& work, tally& all)
{
    while (all.begin_another()) {
        co_await in.insert_many(work.many);
        ++all.done;
    }
}

inline asio::awaitable<void> find_one(mongo::collection in, const crud_work&, tally& all)
{
    while (all.begin_another()) {
        const bson::document filter = id_of_turn(all);
        const auto found = co_await in.find_one(filter);
        if (found)
            read(all, found->view());
        ++all.done;
    }
}

inline asio::awaitable<void> find_many(mongo::collection in, const crud_work&, tally& all)
{
    while (all.begin_another()) {
        mongo::cursor found = in.find({}, in_batches);
        for (bool more = co_await found.next_batch(); more; more = co_await found.next_batch())
            read_all(all, found.batch());
        ++all.done;
    }
}

// ---- The same with calls that block ----

inline void insert_one(const mongo::sync::collection& in, const crud_work& work, tally& all)
{
    for (; all.begin_another(); ++all.done)
        in.insert_one(work.small);
}

inline void insert_many(const mongo::sync::collection& in, const crud_work& work, tally& all)
{
    for (; all.begin_another(); ++all.done)
        in.insert_many(work.many);
}

inline void find_one(const mongo::sync::collection& in, const crud_work&, tally& all)
{
    for (; all.begin_another(); ++all.done) {
        const auto found = in.find_one(id_of_turn(all));
        if (found)
            read(all, found->view());
    }
}

inline void find_many(const mongo::sync::collection& in, const crud_work&, tally& all)
{
    for (; all.begin_another(); ++all.done) {
        mongo::sync::cursor found = in.find({}, in_batches);
        while (found.next_batch())
            read_all(all, found.batch());
    }
}

// ---- One of them by name ----

struct crud_operation {
    std::string_view name;
    asio::awaitable<void> (*begin)(mongo::collection, const crud_work&, tally&);
    void (*block)(const mongo::sync::collection&, const crud_work&, tally&);
};
inline constexpr crud_operation crud_operations[] = {
    {"insert_one", insert_one, insert_one},
    {"insert_many", insert_many, insert_many},
    {"find_one", find_one, find_one},
    {"find_many", find_many, find_many},
};

/// Null if the operation is none of these.
inline const crud_operation* crud_operation_of(const order& what) noexcept
{
    for (const crud_operation& one : crud_operations)
        if (one.name == what.operation)
            return &one;
    return nullptr;
}

inline void note_failure(tally& all, const std::exception_ptr& thrown)
{
    try {
        if (thrown)
            std::rethrow_exception(thrown);
    } catch (const failure& failed) {
        all.failure = failed.error().explain();
    } catch (const std::exception& other) {
        all.failure = other.what();
    }
}

/// The first connection is not what is measured.
inline asio::awaitable<void> connect(const mongo::client& with)
{
    const bson::document ping = bson::doc("ping", 1);
    co_await with.run_command("admin", ping);
}

inline asio::awaitable<void> disconnect(const mongo::client& with)
{
    co_await with.close();
}

inline void run_crud(const crud_operation& what, const order& ordering, const crud_work& work,
                     tally& all)
{
    asio::io_context loop{1};
    const mongo::client with{loop.get_executor(), ordering.uri};
    std::uint32_t running = ordering.concurrency;
    const auto ended = [&](const std::exception_ptr& thrown) {
        note_failure(all, thrown);
        if (--running > 0)
            return;
        all.ended = tally::clock::now();
        asio::co_spawn(loop, disconnect(with), [](const std::exception_ptr&) {});
    };
    asio::co_spawn(loop, connect(with), [&](const std::exception_ptr& thrown) {
        note_failure(all, thrown);
        all.began = tally::clock::now();
        for (std::uint32_t n = 0; n < ordering.concurrency; ++n)
            asio::co_spawn(loop, what.begin(with["perftest"]["corpus"], work, all), ended);
    });
    loop.run();
}

inline void run_crud_blocking(const crud_operation& what, const order& ordering,
                              const crud_work& work, tally& all)
try {
    const mongo::sync::client with{ordering.uri};
    with.run_command("admin", bson::doc("ping", 1));
    all.began = tally::clock::now();
    what.block(with["perftest"]["corpus"], work, all);
    all.ended = tally::clock::now();
} catch (...) {
    note_failure(all, std::current_exception());
}

}  // namespace holdfast::bench
