#include "truth/storm.hpp"

#include "truth/backend.hpp"
#include "truth/couchbase/faults.hpp"
#include "truth/mongo/faults.hpp"

#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

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

std::unique_ptr<storm_backend> make_backend(storm_hosts& in, std::uint64_t seed,
                                            const storm_options& options)
{
    if (options.of == protocol::couchbase)
        return make_couchbase_backend(in, seed);
    return make_mongo_backend(in, seed, options.with);
}

class storm {
public:
    storm(std::uint64_t seed, const storm_options& options)
        : in_{seed}, backend_{make_backend(in_, seed, options)}
    {
        in_.net.keep_trace(options.with_trace);
        in_.control = &in_.net.add_host("control");
        backend_->start_servers();
        for (storm_worker& one : backend_->start_clients()) {
            hosts_.push_back(one.on);
            workers_.emplace_back(one.on->world(), std::move(one.with), one.work, progress_);
        }
        progress_.working = workers_.size();
        reader_ = backend_->reader();
    }
    storm(const storm&) = delete;
    storm& operator=(const storm&) = delete;
    ~storm() { in_.crash_all(); }

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
        const auto script = backend_->make_faults(fewest_faults + in_.below(4));
        script->begin();
        for (std::size_t n = 0; n < workers_.size(); ++n)
            hosts_[n]->start(workers_[n].run());
        const bool enough = run_until([&] {
            return script->over() && in_.net.now() >= script->ended() + backend_->calm() &&
                   progress_.acknowledged >= fewest_acknowledged;
        });
        progress_.stop = true;
        const bool ended = run_until([&] { return progress_.working == 0; });
        report.faults = script->counts();
        conclude(report, enough, ended);
        report.script = backend_->describe() + script->text();
        for (const std::string& line : in_.net.trace())
            report.script += line + '\n';
        return report;
    }

private:
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
            backend_->complete(**found);
            report.found = drill::judge(all, **found);
            for (const std::string& one : report.found.complaints)
                report.complaints += one + '\n';
        }
        report.complaints += backend_->audit(all);
        close_all(report);
        report.retries = backend_->counts().retries;
        in_.net.note(std::to_string(all.size()));
        report.history = in_.net.trace_hash();
    }

    void close_all(storm_report& report)
    {
        std::size_t open = 1;
        in_.control->start(close(reader_, open));
        for (std::size_t n = 0; n < workers_.size(); ++n) {
            bool is_first = true;
            for (std::size_t m = 0; m < n; ++m)
                is_first = is_first && workers_[m].client() != workers_[n].client();
            if (!is_first)
                continue;
            ++open;
            hosts_[n]->start(close(workers_[n].client(), open));
        }
        if (!run_until([&] { return open == 0; }))
            report.complaints += std::to_string(open) + " clients could not be closed\n";
    }

    storm_hosts in_;
    std::unique_ptr<storm_backend> backend_;
    drill::storm_progress progress_;
    std::vector<sim::host*> hosts_;  // by worker
    std::deque<drill::worker> workers_;
    drill::client_ptr reader_;
};

}  // namespace

std::span<const std::string_view> fault_names(protocol of) noexcept
{
    return of == protocol::couchbase ? couchbase_fault_names() : mongo_fault_names();
}

storm_report run_storm(std::uint64_t seed, const storm_options& options)
{
    storm one{seed, options};
    return one.run();
}

}  // namespace holdfast::truth
