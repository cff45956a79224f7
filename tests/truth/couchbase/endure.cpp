#include "truth/endure.hpp"

#include "holdfast/couchbase/cluster.hpp"
#include "net/world.hpp"
#include "runtime/wait.hpp"
#include "tools/holdfast/drill/couchbase/contents.hpp"
#include "tools/holdfast/drill/couchbase/lab_target.hpp"
#include "tools/holdfast/drill/couchbase/outcome.hpp"
#include "truth/couchbase/lab_process.hpp"
#include "truth/endurance.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::truth {

using namespace std::chrono_literals;
using boost::asio::use_awaitable;
using couchbase::errc;
using drill::marked_value;
using runtime::awaitable;

namespace {

using target = drill::couchbase_lab_target;

constexpr auto operation_limit = 2500ms;  // of an operation
constexpr duration most_late = 1s;  // the machine has others to serve
constexpr std::size_t keys_of_each = 32;
constexpr std::size_t lab_nodes = 3;

/// What became of all operations so far, in a size that does not depend on their number.
struct endurance_tally {
    std::uint64_t operations = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t late = 0;
    std::uint64_t wrong = 0;  // answers
    std::map<std::string, std::uint64_t> reasons = {};
    std::string first_wrong = {};

    void add_wrong(const std::string& what)
    {
        ++wrong;
        if (first_wrong.empty())
            first_wrong = what;
    }
};

class endurance_run {
public:
    endurance_run(const endure_options& options, lab_process& servers)
        : options_{options}, servers_{servers}, chance_{options.seed}
    {
    }

    /// What was broken, one line each.
    std::string run()
    {
        boost::asio::co_spawn(loop_, conduct(), boost::asio::detached);
        loop_.run();
        conclude();
        return complaints_;
    }

private:
    result<couchbase::cluster> connect()
    {
        couchbase::password login;
        login.user = target::user;
        login.text = secret{target::password};
        couchbase::cluster_options options;
        options.authenticator = std::move(login);
        return couchbase::cluster::create(loop_.get_executor(), servers_.uri(), std::move(options));
    }

    awaitable<void> conduct()
    {
        const bool is_ready = co_await begin();
        constexpr std::array<const char*, 3> ways{"hard", "gracefully", "crash"};
        for (std::size_t n = 0; is_ready && n < options_.minutes; ++n) {
            servers_.fail_over(ways[n % ways.size()]);
            co_await runtime::sleep_until(
                world_, world_.steady_now() + std::chrono::milliseconds{options_.minute_ms});
            if (const std::string trouble = servers_.outcome(); !trouble.empty())
                complaints_ += trouble + '\n';
            take_sample(ways[n % ways.size()]);
            if (options_.leaks)
                leak();
        }
        stop_ = true;
        while (working_ > 0)
            co_await runtime::sleep_until(world_, world_.steady_now() + 10ms);
        if (client_)
            co_await client_->close();
    }

    awaitable<bool> begin()
    {
        // The loop has descriptors of its own as soon as it has waited.
        co_await runtime::sleep_until(world_, world_.steady_now() + 1ms);
        before_ = sample_of_this_process();
        auto made = connect();
        if (!made) {
            complaints_ += made.error().message() + '\n';
            co_return false;
        }
        client_ = *std::move(made);
        const auto bucket = (*client_)[target::bucket];
        const auto ready = co_await bucket.ready({}, use_awaitable);
        if (!ready) {
            complaints_ += "the bucket is not ready: " + ready.error().explain() + '\n';
            co_return false;
        }
        working_ = options_.in_flight;
        for (std::size_t n = 0; n < options_.in_flight; ++n)
            boost::asio::co_spawn(loop_, work(n), boost::asio::detached);
        co_return true;
    }

    /// The clock gives the beat, so that all are in flight at the same time.
    time_point next_beat() const
    {
        const duration beat = std::chrono::milliseconds{options_.pause_ms};
        const duration since = world_.steady_now().time_since_epoch();
        return time_point{since - since % beat + beat};
    }

    awaitable<void> work(std::size_t id)
    {
        const auto documents = (*client_)[target::bucket].default_collection();
        while (!stop_) {
            co_await runtime::sleep_until(world_, next_beat());
            const std::string key = "e" + std::to_string(id) + '.' +
                                    std::to_string(chance_() % keys_of_each);
            const time_point began = world_.steady_now();
            const auto failed = co_await perform(documents, key);
            ++tally_.operations;
            if (world_.steady_now() - began > operation_limit + most_late)
                ++tally_.late;
            if (failed)
                ++tally_.reasons[drill::couchbase_reason_of(*failed)];
            else
                ++tally_.acknowledged;
        }
        --working_;
    }

    awaitable<std::optional<error>> perform(const couchbase::collection& documents,
                                            const std::string& key)
    {
        const std::uint64_t drawn = chance_() % 10;
        if (drawn < 5)
            co_return co_await read(documents, key);
        if (drawn == 9) {
            const std::string counter = "c" + key;
            couchbase::counter_options options;
            options.timeout = operation_limit;
            options.initial = 1;
            auto done = co_await documents.increment(counter, options, use_awaitable);
            co_return done ? std::nullopt : std::optional<error>{std::move(done).error()};
        }
        const marked_value content{key, static_cast<drill::token>(tally_.operations)};
        couchbase::upsert_options options;
        options.timeout = operation_limit;
        if (drawn == 8)
            options.durability = couchbase::durability::majority;
        auto done = co_await documents.upsert(key, content, options, use_awaitable);
        co_return done ? std::nullopt : std::optional<error>{std::move(done).error()};
    }

    awaitable<std::optional<error>> read(const couchbase::collection& documents,
                                         const std::string& key)
    {
        couchbase::get_options options;
        options.timeout = operation_limit;
        auto found = co_await documents.get<marked_value>(key, options, use_awaitable);
        if (found && found->content.k != key)
            tally_.add_wrong("the content of " + found->content.k + " was read from " + key);
        if (found || drill::is(found.error(), errc::document_not_found))
            co_return std::nullopt;
        if (drill::is(found.error(), errc::decoding_failure))
            tally_.add_wrong("what was read from " + key + " is something else");
        co_return std::move(found).error();
    }

    /// The planted defect.
    void leak()
    {
        constexpr std::size_t megabyte = 1U << 20U;
        (void)::dup(STDERR_FILENO);
        forgotten_.emplace_back(megabyte, 'x');
    }

    void take_sample(const char* kind)
    {
        const endurance_sample now = sample_of_this_process();
        samples_.push_back(now);
        std::printf(
            "minute %zu (%s): %llu kB resident, %zu descriptors, %llu operations, %llu "
            "acknowledged, %llu late\n",
            samples_.size(), kind, static_cast<unsigned long long>(now.resident / 1024),
            now.descriptors, static_cast<unsigned long long>(tally_.operations),
            static_cast<unsigned long long>(tally_.acknowledged),
            static_cast<unsigned long long>(tally_.late));
        std::fflush(stdout);
    }

    void conclude()
    {
        for (const auto& [reason, times] : tally_.reasons)
            std::printf("%llu times: %s\n", static_cast<unsigned long long>(times), reason.c_str());
        complaints_ += check_endurance(samples_);
        if (tally_.late > 0)
            complaints_ += std::to_string(tally_.late) + " operations were late\n";
        if (tally_.wrong > 0)
            complaints_ += std::to_string(tally_.wrong) +
                           " wrong answers, the first: " + tally_.first_wrong + '\n';
        if (tally_.acknowledged * 2 < tally_.operations)
            complaints_ += "most operations have failed\n";
        const std::size_t left = sample_of_this_process().descriptors;
        if (left != before_.descriptors)
            complaints_ += std::to_string(left) + " descriptors after the client was closed, " +
                           std::to_string(before_.descriptors) + " before it was made\n";
    }

    endure_options options_;
    lab_process& servers_;
    std::mt19937_64 chance_;
    boost::asio::io_context loop_{1};
    net::async_world world_{loop_.get_executor()};
    std::optional<couchbase::cluster> client_;
    std::vector<std::string> forgotten_;
    endurance_sample before_;
    std::vector<endurance_sample> samples_;
    endurance_tally tally_;
    std::string complaints_;
    std::size_t working_ = 0;
    bool stop_ = false;
};

}  // namespace

int run_couchbase_endurance(const endure_options& options)
{
    auto servers = lab_process::start(lab_nodes);
    if (!servers) {
        std::fprintf(stderr, "truth: %s\n", servers.error().message().c_str());
        return 2;
    }
    endurance_run run{options, **servers};
    const std::string complaints = run.run();
    std::fputs(complaints.c_str(), stdout);
    std::printf("%s\n", complaints.empty() ? "it has held" : "FAILED");
    return complaints.empty() ? 0 : 1;
}

}  // namespace holdfast::truth
