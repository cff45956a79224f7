#include "truth/backend.hpp"

#include "api/couchbase/access.hpp"
#include "api/couchbase/cluster_impl.hpp"
#include "holdfast/couchbase/cluster.hpp"
#include "runtime/wait.hpp"
#include "tools/holdfast/drill/couchbase/client.hpp"
#include "truth/couchbase/faults.hpp"
#include "truth/couchbase/rules.hpp"
#include "truth/couchbase/sealed_tls.hpp"
#include "truth/couchbase/service.hpp"

#include <utility>

namespace holdfast::truth {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

/// So soon after the last change of a map all operations work again.
constexpr duration recovery = 1500ms;
/// An operation that takes longer must have had no node to serve it.
constexpr duration longest_wait = recovery;
/// All replies have come by then, or their connections have ended.
constexpr duration quiet = 2s;
constexpr duration moment = 37ms;
constexpr std::size_t coroutines = 8;

/// What a probe of a client has come to.
struct probe {
    std::size_t left = 0;
    std::string complaints = {};
};

/// An operation on the collection that was dropped and made again.
awaitable<void> use_scratch(couchbase::collection documents, std::string key, probe& of)
{
    const couchbase::raw_json content{"1"};
    const auto stored = co_await documents.upsert(key, content, {.timeout = 1500ms},
                                                  boost::asio::use_awaitable);
    if (!stored)
        of.complaints += "a collection that was made again cannot be used: " +
                         stored.error().explain() + '\n';
    --of.left;
}

/// Uses the collection for as long as the storm lasts. What becomes of its documents is no matter.
awaitable<void> keep_using(runtime::world& in, couchbase::collection documents, std::string key,
                           const bool& over)
{
    std::uint64_t n = 0;
    while (!over) {
        const couchbase::raw_json content{std::to_string(n++)};
        const auto stored = co_await documents.upsert(key, content, {.timeout = 500ms},
                                                      boost::asio::use_awaitable);
        const duration pause = stored ? 40ms : 100ms;
        co_await runtime::sleep_until(in, in.steady_now() + pause);
    }
}

class couchbase_backend final : public storm_backend {
public:
    couchbase_backend(storm_hosts& in, std::uint64_t seed) : in_{in}, seed_{seed} {}

    void start_servers() override
    {
        lab::couchbase::cluster_options options;
        replicas_ = 1 + in_.below(2);
        with_tls_ = in_.below(4) == 0;
        const std::size_t nodes = replicas_ + 2 + in_.below(2);
        for (std::size_t n = 0; n < nodes; ++n) {
            const std::string name = "n" + std::to_string(n);
            in_.members.push_back(&in_.net.add_host(name));
            options.nodes.push_back(storm_place(*in_.members.back()));
            uri_ += (n == 0 ? "" : ",") + name + ':' +
                    std::to_string(with_tls_ ? storm_tls_port : storm_port);
        }
        uri_ = (with_tls_ ? "couchbases://" : "couchbase://") + uri_;
        if (with_tls_)
            options.tls = make_sealed_tls(certificate::trusted);
        vbuckets_ = in_.below(16) == 0 ? 1024 : 64;
        options.vbuckets = vbuckets_;
        options.buckets = {storm_bucket};
        options.replicas = replicas_;
        options.manager = &in_.control->world();
        options.user = "ada";
        options.password = "lovelace";
        options.warm_up = std::chrono::milliseconds{in_.below(200)};
        servers_ = std::make_unique<lab::couchbase::cluster>(std::move(options));
        servers_->start().value();
        (void)servers_->create_collection(storm_bucket, "_default", storm_collection);
    }

    std::vector<storm_worker> start_clients() override
    {
        std::vector<storm_worker> made;
        const std::size_t applications = 1 + in_.below(3);
        for (std::size_t n = 0; n < applications; ++n) {
            sim::host& on = in_.net.add_host("c" + std::to_string(n));
            in_.clients.push_back(&on);
            std::string more;
            if (in_.below(3) == 0)
                more += "&enable_clustermap_notification=false&config_poll_interval=" +
                        std::to_string(300 + in_.below(2000));
            if (in_.below(4) == 0)
                more += "&kv_connections=2";
            const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
                in_.below(3) == 0 ? in_.between(150, 800) : in_.between(800, 5000));
            const auto client = connect(on, more, timeout);
            on.start(keep_using(on.world(), scratch_of(*client), "u" + std::to_string(n), over_));
            for (std::size_t m = n; m < coroutines; m += applications) {
                drill::work_options work;
                work.client = m;
                work.seed = seed_;
                work.mix = drill::couchbase_mix;
                work.burst = 1 + in_.below(10);
                work.pause = 4ms * static_cast<std::int64_t>(work.burst * coroutines);
                work.bound = timeout;
                made.push_back({&on, client, work});
            }
        }
        return made;
    }

    drill::client_ptr reader() override { return connect(*in_.control, "", 2500ms); }
    std::unique_ptr<fault_script> make_faults(std::size_t count) override
    {
        auto made = std::make_unique<couchbase_faults>(in_, *servers_, replicas_, with_tls_, deeds_,
                                                       count);
        script_ = made.get();
        watch_map();
        return made;
    }
    const drill::client_counts& counts() const noexcept override { return rules_.counts(); }
    std::string describe() const override
    {
        return std::to_string(servers_->nodes()) + " nodes so far, " + std::to_string(replicas_) +
               " replicas, " + std::to_string(vbuckets_) + " vbuckets, " +
               (with_tls_ ? "TLS, " : "") + std::to_string(in_.clients.size()) + " clients\n";
    }

    duration calm() const noexcept override { return recovery + 1500ms; }

    void complete(drill::found_state& found) const override
    {
        found.replicas_promoted = deeds_.replicas_promoted;
        found.stale_reads = deeds_.stale_reads;
    }

    std::string audit(std::span<const drill::operation> history) override
    {
        over_ = true;
        std::string made = check_recovery(history, script_->ended() + recovery, recovery);
        made += use_all_again();
        in_.net.run_for(quiet);
        for (const auto& one : clients_)
            made += check_slots_of(*one);
        made += rules_.complaints(deeds_, coroutines);
        made += check_waiting(history, deeds_.service, longest_wait);
        return made;
    }

private:
    std::shared_ptr<drill::couchbase_client> connect(sim::host& on, const std::string& more,
                                                     std::chrono::milliseconds timeout)
    {
        const auto world = std::make_shared<sealing_world>(on.world());
        couchbase::password login;
        login.user = "ada";
        login.text = secret{"lovelace"};
        couchbase::cluster_options options;
        options.authenticator = std::move(login);
        options.listeners.push_back(rules_.make_listener(deeds_));
        auto made = couchbase::access::in_world(world,
                                                uri_ + (more.empty() ? "" : "?" + more.substr(1)),
                                                std::move(options))
                        .value();
        drill::couchbase_client_options settings;
        settings.bucket = storm_bucket;
        settings.timeout = timeout;
        settings.written = written_;
        clients_.push_back(std::make_shared<drill::couchbase_client>(on.world(), std::move(made),
                                                                     std::move(settings)));
        return clients_.back();
    }

    /// As it is decided, whether nodes know it or not.
    void watch_map()
    {
        if (over_)
            return;
        deeds_.service.note_map(in_.net.now(), servers_->layout(storm_bucket)->map.rows);
        in_.net.at_time(in_.net.now() + 10ms, [this] { watch_map(); });
    }

    static couchbase::collection scratch_of(const drill::couchbase_client& of)
    {
        return of.handle()[storm_bucket].collection(storm_collection);
    }

    /// A client that asks for configurations now and then uses a slot for a moment.
    std::string check_slots_of(const drill::couchbase_client& of)
    {
        std::string made = check_slots(of.handle());
        for (int tries = 0; tries < 3 && !made.empty(); ++tries) {
            in_.net.run_for(moment);
            made = check_slots(of.handle());
        }
        return made;
    }

    std::string use_all_again()
    {
        probe all;
        for (std::size_t n = 0; n < in_.clients.size(); ++n) {
            for (int key = 0; key < 8; ++key) {
                ++all.left;
                in_.clients[n]->start(
                    use_scratch(scratch_of(*clients_[n]), "p" + std::to_string(key), all));
            }
        }
        in_.net.run_for(5s);
        if (all.left != 0)
            all.complaints += std::to_string(all.left) + " operations did not end in 5 s\n";
        return all.complaints;
    }

    storm_hosts& in_;
    std::uint64_t seed_;
    std::unique_ptr<lab::couchbase::cluster> servers_;
    std::string uri_;
    std::size_t replicas_ = 1;
    std::size_t vbuckets_ = 64;
    bool with_tls_ = false;
    couchbase_deeds deeds_;
    const fault_script* script_ = nullptr;
    bool over_ = false;
    client_rules rules_;
    std::shared_ptr<drill::written_keys> written_ = std::make_shared<drill::written_keys>();
    std::vector<std::shared_ptr<drill::couchbase_client>> clients_;
};

}  // namespace

std::unique_ptr<storm_backend> make_couchbase_backend(storm_hosts& in, std::uint64_t seed)
{
    return std::make_unique<couchbase_backend>(in, seed);
}

}  // namespace holdfast::truth
