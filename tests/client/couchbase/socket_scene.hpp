#pragma once
#include "client/couchbase/kv_run.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/couchbase/cluster.hpp"
#include "holdfast/lab/couchbase.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

using boost::asio::use_awaitable;

/// The lab's cluster on loopback, as people start it, and a client on a loop that the test turns:
/// what kv_scene is in the simulator. The bucket is "travel", the user "ada", "lovelace".
///
/// Time is real here. What must last so long at least is checked exactly; a bound from above is for
/// the best of a few runs, since on a busy machine any single one may be late for reasons that are
/// not ours, but not all of them.
class socket_scene {
public:
    explicit socket_scene(lab::couchbase_options what = {});
    socket_scene(const socket_scene&) = delete;
    socket_scene& operator=(const socket_scene&) = delete;
    /// The client must end, or the test fails.
    ~socket_scene();

    /// A client of all nodes, in the place of the one before. Options: "?kv_timeout=1s".
    void connect(couchbase::cluster_options options = {}, const std::string& more = {});
    /// The same at another address.
    void connect_to(const std::string& uri, couchbase::cluster_options options = {});
    void disconnect();
    static couchbase::password login(const std::string& password = "lovelace");
    couchbase::collection documents() const { return (*client)["travel"].default_collection(); }
    /// Opens the bucket, and all that the next operations need.
    void warm_up();

    /// Turns the loop until `done`; false if that takes too long.
    bool finish(const std::function<bool()>& done, duration limit = std::chrono::seconds{20});

    /// Begins what was made with use_awaitable.
    template <class T>
    kv_run<T> start(asio::awaitable<result<T>> what)
    {
        auto made = std::make_shared<kv_operation_run<T>>();
        made->began = std::chrono::steady_clock::now();
        asio::co_spawn(loop, record(std::move(what), made), asio::detached);
        return made;
    }
    /// The same, and waits for it.
    template <class T>
    kv_run<T> run(asio::awaitable<result<T>> what)
    {
        auto made = start(std::move(what));
        EXPECT_TRUE(finish([&] { return made->done(); })) << "it never ended";
        return made;
    }
    kv_run<couchbase::document<couchbase::raw_json>> get(std::string_view id,
                                                         couchbase::get_options options = {})
    {
        return run(documents().get(id, options, use_awaitable));
    }
    kv_run<couchbase::mutation_result> upsert(std::string_view id, const std::string& json,
                                              couchbase::upsert_options options = {})
    {
        const couchbase::raw_json content{json};
        return run(documents().upsert(id, content, options, use_awaitable));
    }

    /// Hits requests of that name. A fault in the place of one of the same operation.
    void fault(const std::string& operation, lab::couchbase_fault what);
    /// How many requests of that name it has hit.
    std::int64_t hits(const std::string& operation) const { return lab.fault_hits(operation); }
    /// Counts the requests that no fault has hit.
    void count(const std::string& operation);
    /// Those that have arrived since count(), whatever became of them.
    std::int64_t arrived(const std::string& operation) const;
    void command(const std::string& line);

    lab::couchbase_cluster lab;
    asio::io_context loop{1};
    std::optional<couchbase::cluster> client;

private:
    template <class T>
    static asio::awaitable<void> record(asio::awaitable<result<T>> what, kv_run<T> into)
    {
        auto got = co_await std::move(what);
        into->ended = std::chrono::steady_clock::now();
        into->outcome.emplace(std::move(got));
    }
};

/// Faults by what they do.
lab::couchbase_fault answer_with(core::couchbase::kv_status status,
                                 std::optional<std::int64_t> times = {});
/// The connection is closed before the request is carried out.
lab::couchbase_fault cut_before(std::optional<std::int64_t> times = {});
/// It is carried out, and the connection closed after so many bytes of the reply.
lab::couchbase_fault cut_after(std::size_t bytes, std::optional<std::int64_t> times = {});
lab::couchbase_fault no_reply(std::optional<std::int64_t> times = {});

/// The reasons of all attempts, "KV_LOCKED"; empty for one without.
std::vector<std::string> reasons_of(const error& why);

/// Runs `one`, which gives how long something took, until it was fast enough, but at most so often;
/// gives the best.
template <class One>
duration best_of(int runs, duration fast_enough, One one)
{
    duration best = duration::max();
    for (int n = 0; n != runs && best > fast_enough && !::testing::Test::HasFailure(); ++n)
        best = std::min(best, one());
    return best;
}

}  // namespace holdfast::proof
