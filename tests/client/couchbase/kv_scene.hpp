#pragma once
#include "api/couchbase/access.hpp"
#include "client/couchbase/kv_run.hpp"
#include "core/couchbase/handshake/bootstrap.hpp"
#include "holdfast/couchbase/cluster.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "shell/couchbase/connection/establish.hpp"
#include "sim/simulation.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::proof {

using boost::asio::use_awaitable;

struct kv_scene_options {
    std::size_t nodes = 1;
    std::size_t replicas = 0;
    std::vector<std::string> buckets = {"travel"};
    std::uint64_t seed = 1;
    std::size_t vbuckets = 1024;
    /// Not empty: hosts are n0.example.com ..., and clients use TLS, at port 11207. A file of
    /// certificates: "wildcard.pem".
    std::string certificate = {};
    /// What else the lab's cluster is given.
    std::function<void(lab::couchbase::cluster_options&)> adjust = {};
};

/// TLS as a server has it, with one of the test's certificates. With a CA it demands certificates
/// of its clients.
runtime::tls_ptr server_tls(const std::string& certificate, const std::string& clients_ca = {});

/// Data nodes of the lab in a simulation whose links take exactly a millisecond, and a host for the
/// application. Nodes are the hosts n0, n1 ... at port 11210; the user is "ada", "lovelace".
class kv_scene {
public:
    explicit kv_scene(kv_scene_options what = {});
    kv_scene(const kv_scene&) = delete;
    kv_scene& operator=(const kv_scene&) = delete;
    ~kv_scene();

    lab::couchbase::node& node(std::size_t number) { return cluster->at(number); }
    sim::host& host_of(std::size_t number) { return *hosts.at(number); }

    /// Hits requests of that opcode at a node.
    void fault(std::size_t number, core::couchbase::kv_opcode opcode, lab::couchbase::kv_fault what,
               lab::activation when);
    void fault_everywhere(core::couchbase::kv_opcode opcode, const lab::couchbase::kv_fault& what,
                          lab::activation when);
    void clear_faults();
    /// Calls `seen` with each request of that opcode that arrives at a node; it is not hit.
    void watch_requests(core::couchbase::kv_opcode opcode,
                        std::function<void(const lab::couchbase::kv_target&)> seen);
    /// Requests of that opcode that arrived at the nodes, by faults that do nothing.
    void count_requests(core::couchbase::kv_opcode opcode);
    std::int64_t counted(core::couchbase::kv_opcode opcode) const;

    /// Runs until `done`; false if that takes more than a minute.
    bool finish(const std::function<bool()>& done);

    template <class T>
    std::optional<T> wait_for(runtime::awaitable<T> what)
    {
        auto kept = std::make_shared<std::optional<T>>();
        app.start(keep(std::move(what), kept));
        finish([&] { return kept->has_value(); });
        return std::move(*kept);
    }

    /// A client of all nodes. Options: "?kv_timeout=1s".
    void connect(couchbase::cluster_options options = {}, const std::string& more = {});
    std::string uri() const;
    static couchbase::password login(const std::string& password = "lovelace");
    couchbase::collection documents() const { return (*client)["travel"].default_collection(); }

    /// Begins what was made with use_awaitable.
    template <class T>
    kv_run<T> start(runtime::awaitable<result<T>> what)
    {
        auto made = std::make_shared<kv_operation_run<T>>();
        made->began = simulation.now();
        boost::asio::co_spawn(app.world().executor(), record(std::move(what), made, &simulation),
                              boost::asio::detached);
        return made;
    }
    /// The same, and waits for it.
    template <class T>
    kv_run<T> run(runtime::awaitable<result<T>> what)
    {
        auto made = start(std::move(what));
        finish([&] { return made->done(); });
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
    /// An operation that opens the bucket, so that the next ones find all at hand.
    void warm_up();
    /// A key of that node's in "travel".
    std::string key_on(std::size_t number) const;
    /// Bytes that the client has ever written to that node over connections that are open.
    std::uint64_t written_to(std::size_t number) const;

    std::shared_ptr<shell::couchbase::connection_config> config(std::string password = "lovelace");

    sim::simulation simulation;
    sim::host& app;
    std::vector<sim::host*> hosts;
    std::unique_ptr<lab::couchbase::cluster> cluster;
    std::optional<couchbase::cluster> client;

private:
    template <class T>
    static runtime::awaitable<void> record(runtime::awaitable<result<T>> what, kv_run<T> into,
                                           sim::simulation* clock)
    {
        auto got = co_await std::move(what);
        into->ended = clock->now();
        into->outcome.emplace(std::move(got));
    }

    template <class T>
    static runtime::awaitable<void> keep(runtime::awaitable<T> what,
                                         std::shared_ptr<std::optional<T>> into)
    {
        auto got = co_await std::move(what);
        into->emplace(std::move(got));
    }

    const bool with_tls_;
    std::shared_ptr<runtime::world> app_world_;  // where clients live
    int faults_ = 0;
    std::shared_ptr<std::map<core::couchbase::kv_opcode, std::int64_t>> counts_;
};

}  // namespace holdfast::proof
