#include "truth/storm.hpp"

#include "api/mongo/access.hpp"
#include "holdfast/mongo/client.hpp"
#include "tools/holdfast/drill/mongo/client.hpp"
#include "tools/holdfast/drill/mongo/watcher.hpp"
#include "tools/holdfast/drill/worker.hpp"
#include "truth/faults.hpp"

#include <deque>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::truth {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr std::uint64_t fewest_acknowledged = 300;
constexpr std::size_t fewest_faults = 3;
constexpr duration time_limit = 20min;  // of virtual time: nothing here takes that long

awaitable<void> prepare(drill::client_ptr by, std::optional<result<void>>& done)
{
    auto outcome = co_await by->prepare();
    done.emplace(std::move(outcome));
}

awaitable<void> read_back(drill::client_ptr by, time_point until,
                          std::optional<result<drill::found_state>>& done)
{
    auto outcome = co_await by->read_all(until);
    done.emplace(std::move(outcome));
}

awaitable<void> close(drill::client_ptr which, std::size_t& left)
{
    co_await which->close();
    --left;
}

class storm {
public:
    storm(std::uint64_t seed, defect with) : seed_{seed}, with_{with}, in_{seed}
    {
        start_set();
        start_clients();
    }

    storm_report run()
    {
        storm_report report;
        std::optional<result<void>> prepared;
        in_.control->start(prepare(reader_, prepared));
        if (!run_until([&] { return prepared.has_value(); }) || !*prepared) {
            report.complaints = "the storm could not begin: " +
                                (prepared ? prepared->error().explain() : "no answer");
            return report;
        }
        fault_script script{in_, fewest_faults + in_.below(4)};
        script.begin();
        for (std::size_t n = 0; n < workers_.size(); ++n)
            in_.clients[n]->start(workers_[n].run());
        const bool enough = run_until(
            [&] { return script.over() && progress_.acknowledged >= fewest_acknowledged; });
        progress_.stop = true;
        const bool ended = run_until([&] { return progress_.working == 0; });
        report.faults = script.counts();
        conclude(report, enough, ended);
        report.script = describe() + script.text();
        return report;
    }

private:
    void start_set()
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
        in_.set = std::make_unique<lab::mongo::deployment>(std::move(options));
        (void)in_.set->start().has_value();
        uri_ = "mongodb://" + uri_ + "/?replicaSet=rs0";
    }

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

    void start_clients()
    {
        clients_ = 2 + in_.below(15);
        progress_.working = clients_;
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
            workers_.emplace_back(on.world(), connect(on, more, std::move(settings)), work,
                                  progress_);
        }
        in_.control = &in_.net.add_host("control");
        reader_ = connect(*in_.control, "", {});
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

    bool run_until(const std::function<bool()>& done)
    {
        const time_point limit = in_.net.now() + time_limit;
        (void)in_.net.run_while_not([&] { return done() || in_.net.now() > limit; });
        return done();
    }

    void conclude(storm_report& report, bool enough, bool ended)
    {
        std::optional<result<drill::found_state>> found;
        in_.control->start(read_back(reader_, in_.net.now() + 2min, found));
        (void)run_until([&] { return found.has_value(); });
        std::vector<drill::operation> all;
        for (const drill::worker& one : workers_)
            all.insert(all.end(), one.history().begin(), one.history().end());
        if (!enough)
            report.complaints += "only " + std::to_string(progress_.acknowledged) +
                                 " writes were acknowledged, or faults did not end\n";
        const auto faults = std::accumulate(report.faults.begin(), report.faults.end(),
                                            std::uint64_t{0});
        if (faults < fewest_faults)
            report.complaints += "only " + std::to_string(faults) + " faults have happened\n";
        if (!ended)
            report.complaints += std::to_string(progress_.working) + " clients did not come back\n";
        if (!found || !*found) {
            report.complaints += "nothing could be read in the end: " +
                                 (found ? found->error().explain() : "no answer") + '\n';
        } else {
            report.found = drill::judge(all, **found);
            for (const std::string& one : report.found.complaints)
                report.complaints += one + '\n';
        }
        close_all(report);
        report.retries = counts_.retries;
        in_.net.note(std::to_string(all.size()));
        report.history = in_.net.trace_hash();
    }

    void close_all(storm_report& report)
    {
        std::size_t open = workers_.size() + 1;
        for (std::size_t n = 0; n < workers_.size(); ++n)
            in_.clients[n]->start(close(workers_[n].client(), open));
        in_.control->start(close(reader_, open));
        if (!run_until([&] { return open == 0; }))
            report.complaints += std::to_string(open) + " clients could not be closed\n";
    }

    std::string describe() const
    {
        return std::to_string(in_.members.size()) + " members, " + std::to_string(clients_) +
               " clients\n";
    }

    std::uint64_t seed_;
    defect with_;
    storm_hosts in_;
    std::string uri_;
    std::size_t clients_ = 0;
    drill::storm_progress progress_;
    drill::client_counts counts_;
    std::deque<drill::worker> workers_;
    drill::client_ptr reader_;
};

}  // namespace

storm_report run_storm(std::uint64_t seed, defect with)
{
    storm one{seed, with};
    return one.run();
}

}  // namespace holdfast::truth
