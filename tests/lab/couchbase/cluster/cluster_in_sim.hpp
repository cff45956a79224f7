#pragma once
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/serve/kv_link.hpp"
#include "runtime/wait.hpp"
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// One connection of a client, over the network of the simulator.
class sim_link {
public:
    sim_link(sim::simulation& net, sim::host& from, std::string to) : net_{net}
    {
        from.start(run(state_, from.world(), std::move(to)));
        run_until([&] { return state_->stream || state_->over; });
    }
    ~sim_link()
    {
        if (state_->stream)
            state_->stream->cancel();
    }

    std::uint32_t send(const sent_request& one)
    {
        bson::byte_buffer out;
        core::couchbase::request_frame frame;
        frame.opcode = one.opcode;
        frame.opaque = ++sent_;
        frame.vbucket = one.vbucket;
        frame.cas = one.cas;
        frame.infos = one.infos;
        frame.extras = core::couchbase::as_octets(one.extras);
        frame.collection = one.collection;
        frame.key = one.key;
        frame.value = core::couchbase::as_octets(one.value);
        EXPECT_TRUE(core::couchbase::write_request(out, frame));
        if (state_->stream)
            (void)state_->stream->write_now(out.bytes());
        return sent_;
    }

    /// What has arrived for a request; nothing yet if there is none.
    std::optional<got_reply> reply(std::uint32_t opaque)
    {
        const auto found = state_->replies.find(opaque);
        return found == state_->replies.end() ? std::nullopt : std::optional{found->second};
    }

    got_reply ask(const sent_request& one, duration timeout = seconds{5})
    {
        const std::uint32_t opaque = send(one);
        run_until([&] { return reply(opaque).has_value() || state_->over; }, timeout);
        return reply(opaque).value_or(got_reply{});
    }

    void bootstrap(const std::string& bucket, std::string user = "ada",
                   std::string password = "lovelace",
                   std::vector<unsigned> features = {0x03, 0x04, 0x06, 0x07, 0x08, 0x0b, 0x0c, 0x0e,
                                                     0x10, 0x11, 0x12, 0x1e})
    {
        sent_request hello{.opcode = kv_opcode::hello, .key = "test"};
        for (const unsigned number : features) {
            hello.value += static_cast<char>(number >> 8U);
            hello.value += static_cast<char>(number & 0xffU);
        }
        (void)ask(hello);
        sent_request login{.opcode = kv_opcode::sasl_auth, .key = "PLAIN"};
        login.value = '\0' + user + '\0' + password;
        login_status = ask(login).status;
        select_status = ask({.opcode = kv_opcode::select_bucket, .key = bucket}).status;
    }

    bool over() const { return state_->over; }
    const std::vector<got_reply>& notifications() const { return state_->notifications; }
    const std::vector<std::uint32_t>& order() const { return state_->order; }

    kv_status login_status = kv_status::internal;
    kv_status select_status = kv_status::internal;

private:
    struct shared {
        runtime::stream_ptr stream;
        std::map<std::uint32_t, got_reply> replies;
        std::vector<std::uint32_t> order;
        std::vector<got_reply> notifications;
        bool over = false;
    };

    static void keep(shared& in, const core::couchbase::frame& one)
    {
        using core::couchbase::as_text;
        got_reply got{one.status(), one.header.cas, one.header.opaque, one.header.datatype};
        got.extras = as_text(one.extras());
        got.key = as_text(one.key());
        got.value = as_text(one.value());
        if (one.header.magic == core::couchbase::kv_magic::server_request) {
            in.notifications.push_back(std::move(got));
        } else {
            in.order.push_back(got.opaque);
            in.replies[got.opaque] = std::move(got);
        }
    }

    static runtime::awaitable<void> run(std::shared_ptr<shared> in, runtime::world& here,
                                        std::string to)
    {
        const runtime::destination where{to, 11210};
        auto connected = co_await here.connect(where, here.steady_now() + seconds{2});
        if (connected) {
            in->stream = *std::move(connected);
            core::couchbase::frame_reader reader;
            for (;;) {
                const auto next = reader.next();
                if (!next)
                    break;
                if (const auto* const one = std::get_if<core::couchbase::frame>(&*next)) {
                    keep(*in, *one);
                    continue;
                }
                const auto got = co_await in->stream->read_some(reader.writable());
                if (got.why)
                    break;
                reader.received(got.bytes);
            }
            in->stream.reset();
        }
        in->over = true;
    }

    void run_until(const std::function<bool()>& done, duration timeout = seconds{5})
    {
        const time_point end = net_.now() + timeout;
        while (net_.now() < end && !done())
            net_.run_for(milliseconds{1});
    }

    sim::simulation& net_;
    std::shared_ptr<shared> state_ = std::make_shared<shared>();
    std::uint32_t sent_ = 0;
};

/// A cluster, each node on a host of its own, one that decides, and a host for clients.
class cluster_in_sim {
public:
    explicit cluster_in_sim(std::size_t nodes, std::size_t replicas, std::uint64_t seed = 1,
                            const std::function<void(cluster_options&)>& change = {})
        : net{seed}, client{net.add_host("client")}, manager{net.add_host("manager")}
    {
        cluster_options options;
        for (std::size_t n = 0; n < nodes; ++n)
            options.nodes.push_back(next_place());
        options.buckets = {"travel"};
        options.replicas = replicas;
        options.user = "ada";
        options.password = "lovelace";
        options.node.plain_without_tls = true;
        options.manager = &manager.world();
        if (change)
            change(options);
        made = std::make_unique<cluster>(std::move(options));
        const auto started = made->start();
        EXPECT_TRUE(started) << started.error().message();
    }
    cluster_in_sim(const cluster_in_sim&) = delete;
    cluster_in_sim& operator=(const cluster_in_sim&) = delete;
    ~cluster_in_sim()
    {
        links.clear();
        for (sim::host* const one : hosts) {
            if (one->running())
                one->crash();
        }
        manager.crash();
        client.crash();
        made.reset();
    }

    node_place next_place()
    {
        const std::string name = "n" + std::to_string(hosts.size());
        hosts.push_back(&net.add_host(name));
        return {&hosts.back()->world(), name, name, 11210};
    }

    bool pass_until(const std::function<bool()>& done, duration timeout = seconds{60})
    {
        const time_point end = net.now() + timeout;
        while (net.now() < end && !done())
            net.run_for(milliseconds{1});
        return done();
    }
    void settle() { EXPECT_TRUE(pass_until([&] { return made->in_sync(); })) << "no sync"; }

    /// Runs it on the manager's host, to its end.
    result<void> run(runtime::awaitable<result<void>> what)
    {
        auto outcome = std::make_shared<std::optional<result<void>>>();
        manager.start(keep(std::move(what), outcome));
        EXPECT_TRUE(pass_until([&] { return outcome->has_value(); }, seconds{300}));
        return outcome->value_or(result<void>{});
    }

    void crash(std::size_t n, node_memory memory = node_memory::kept)
    {
        hosts[n]->crash();
        made->lost(n, memory);
    }
    void restart(std::size_t n)
    {
        hosts[n]->restart([&](sim::host& on) { EXPECT_TRUE(made->restart(n, &on.world())); });
    }

    /// A connection that is logged in, made when it is first needed.
    sim_link& link(std::size_t n)
    {
        auto& at = links[n];
        if (!at || at->over()) {
            at = std::make_unique<sim_link>(net, client, hosts[n]->name());
            at->bootstrap("travel");
        }
        return *at;
    }
    std::size_t owner(std::uint16_t vbucket) { return made->active_node("travel", vbucket); }
    std::size_t replica(std::uint16_t vbucket, std::size_t n = 1)
    {
        return static_cast<std::size_t>(made->layout("travel")->map.rows.at(vbucket).at(n));
    }

    static sent_request set(std::uint16_t vbucket, std::string key, std::string value)
    {
        return {.opcode = kv_opcode::upsert,
                .key = std::move(key),
                .value = std::move(value),
                .extras = std::string(8, '\0'),
                .vbucket = vbucket,
                .collection = 0};
    }
    static sent_request durable(std::uint16_t vbucket, std::string key, std::string value,
                                kv_durability level = kv_durability::majority,
                                std::uint16_t timeout_ms = 2000)
    {
        sent_request one = set(vbucket, std::move(key), std::move(value));
        one.infos.durability = level;
        one.infos.durability_timeout_ms = timeout_ms;
        return one;
    }
    static sent_request get(std::uint16_t vbucket, std::string key,
                            kv_opcode opcode = kv_opcode::get)
    {
        return {.opcode = opcode, .key = std::move(key), .vbucket = vbucket, .collection = 0};
    }

    sim::simulation net;
    sim::host& client;
    sim::host& manager;
    std::vector<sim::host*> hosts;
    std::unique_ptr<cluster> made;
    std::map<std::size_t, std::unique_ptr<sim_link>> links;

private:
    static runtime::awaitable<void> keep(runtime::awaitable<result<void>> what,
                                         std::shared_ptr<std::optional<result<void>>> into)
    {
        auto outcome = co_await std::move(what);
        *into = std::move(outcome);
    }
};

}  // namespace holdfast::lab::couchbase
