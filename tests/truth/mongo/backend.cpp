#include "truth/backend.hpp"

#include "api/mongo/access.hpp"
#include "holdfast/mongo/client.hpp"
#include "tools/holdfast/drill/mongo/client.hpp"
#include "tools/holdfast/drill/mongo/watcher.hpp"
#include "truth/mongo/faults.hpp"

#include <utility>

namespace holdfast::truth {

using namespace std::chrono_literals;

namespace {

class mongo_backend final : public storm_backend {
public:
    mongo_backend(storm_hosts& in, std::uint64_t seed, defect with)
        : in_{in}, seed_{seed}, with_{with}
    {
    }

    void start_servers() override
    {
        lab::mongo::deployment_options options;
        const std::size_t members = 3 + in_.below(3);
        for (std::size_t n = 0; n < members; ++n) {
            const std::string name = "m" + std::to_string(n);
            in_.members.push_back(&in_.net.add_host(name));
            options.members.push_back({&in_.members.back()->world(), "", name, 27017});
            uri_ += (n == 0 ? "" : ",") + name + ":27017";
        }
        options.election_timeout = std::chrono::milliseconds{400 + in_.below(600)};
        options.heartbeat_interval = options.election_timeout / 5;
        options.node.remembers_statements = with_ != defect::forgetful;
        options.node.acknowledges_early = with_ == defect::early;
        set_ = std::make_unique<lab::mongo::deployment>(std::move(options));
        (void)set_->start().has_value();
        uri_ = "mongodb://" + uri_ + "/?replicaSet=rs0";
    }

    std::vector<storm_worker> start_clients() override
    {
        std::vector<storm_worker> made;
        clients_ = 2 + in_.below(15);
        for (std::size_t n = 0; n < clients_; ++n) {
            sim::host& on = in_.net.add_host("c" + std::to_string(n));
            in_.clients.push_back(&on);
            std::string more = "&connectTimeoutMS=2000&serverSelectionTimeoutMS=10000";
            if (in_.below(2) == 0)
                more += "&heartbeatFrequencyMS=" + std::to_string(500 + in_.below(3000));
            if (in_.below(4) == 0)
                more += "&maxPoolSize=1";
            if (in_.below(4) == 0)
                more += "&serverMonitoringMode=poll";
            drill::mongo_client_options settings;
            const drill::work_options work = draw_options(n, more, settings);
            made.push_back({&on, connect(on, more, std::move(settings)), work});
        }
        return made;
    }

    drill::client_ptr reader() override { return connect(*in_.control, "", {}); }
    std::unique_ptr<fault_script> make_faults(std::size_t count) override
    {
        return std::make_unique<mongo_faults>(in_, *set_, count);
    }
    const drill::client_counts& counts() const noexcept override { return counts_; }
    std::string describe() const override
    {
        return std::to_string(in_.members.size()) + " members, " + std::to_string(clients_) +
               " clients\n";
    }

private:
    /// What clients may differ in, and within which time an operation of theirs has to end.
    drill::work_options draw_options(std::size_t client, std::string& more,
                                     drill::mongo_client_options& settings)
    {
        drill::work_options work;
        work.client = client;
        work.seed = seed_;
        work.burst = 1 + in_.below(10);
        // All of them together do so many a second that every fault meets some.
        work.pause = 4ms * static_cast<std::int64_t>(work.burst * clients_);
        const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
            in_.between(1500, 6000));
        switch (in_.below(4)) {
        case 0:
            more += "&timeoutMS=" + std::to_string(timeout.count());
            work.bound = timeout + 20ms;
            break;
        case 1:
            more += "&socketTimeoutMS=3000";
            work.bound = 2min;  // two attempts with a selection each, or five after backoffs
            break;
        default:
            settings.timeout = timeout;
            work.bound = timeout + 20ms;
        }
        return work;
    }

    drill::client_ptr connect(sim::host& on, const std::string& more,
                              drill::mongo_client_options settings)
    {
        const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &on.world()};
        mongo::client_options options;
        options.listeners.push_back(std::make_shared<drill::watcher>(counts_));
        auto made = mongo::access::in_world(world, uri_ + more, std::move(options)).value();
        return std::make_shared<drill::mongo_client>(on.world(), std::move(made),
                                                     std::move(settings));
    }

    storm_hosts& in_;
    std::uint64_t seed_;
    defect with_;
    std::unique_ptr<lab::mongo::deployment> set_;
    std::string uri_;
    std::size_t clients_ = 0;
    drill::client_counts counts_;
};

}  // namespace

std::unique_ptr<storm_backend> make_mongo_backend(storm_hosts& in, std::uint64_t seed, defect with)
{
    return std::make_unique<mongo_backend>(in, seed, with);
}

}  // namespace holdfast::truth
