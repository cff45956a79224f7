// Spans and latencies of a Couchbase cluster: an observer that hands them to a tracer and counts
// them for metrics, and a log that gets what was slow. The tracer here prints; one of OpenTelemetry
// takes its place, since it, too, wants a name, a parent and two points in time.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/lab/couchbase.hpp>
#include <holdfast/observer.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

namespace {

/// The application's tracer.
struct span {
    std::string name;
    std::shared_ptr<const span> parent;
    std::chrono::system_clock::time_point began;
    int depth() const { return parent ? parent->depth() + 1 : 0; }
};
using span_ptr = std::shared_ptr<const span>;

span_ptr start_span(std::string name, span_ptr parent, std::chrono::system_clock::time_point at)
{
    return std::make_shared<const span>(span{std::move(name), std::move(parent), at});
}

void end_span(const span& one, std::chrono::system_clock::time_point at, const std::string& more)
{
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(at - one.began);
    std::cout << std::string(2 * one.depth(), ' ') << one.name << ", " << took.count() << " us"
              << more << '\n';
}

/// Makes spans of what the cluster reports.
class tracing final : public hf::observer {
public:
    using hf::observer::on;

    void on(const hf::observed::operation_began& e) noexcept override
    {
        auto parent = std::static_pointer_cast<const span>(e.of.parent);
        const std::string name = std::string{e.of.service} + " " + std::string{e.of.name};
        open_[e.of.id].operation = start_span(name, std::move(parent), e.of.began_at);
    }

    void on(const hf::observed::attempt_began& e) noexcept override
    {
        span_pair& open = open_[e.of.id];
        const std::string name = "attempt at " + e.which.over.server.value();
        open.attempt = start_span(name, open.operation, at(e.of, e.which.began));
    }

    void on(const hf::observed::attempt_ended& e) noexcept override
    {
        std::string more = e.code ? ": " + e.code.message() : "";
        if (e.server_duration)
            more += ", the server " + std::to_string(e.server_duration->count()) + " us";
        end_span(*open_[e.of.id].attempt, at(e.of, e.ended), more);
    }

    void on(const hf::observed::operation_ended& e) noexcept override
    {
        const std::string more = e.why != nullptr ? ": " + e.why->message() : "";
        end_span(*open_[e.of.id].operation, at(e.of, e.ended), more);
        open_.erase(e.of.id);
    }

private:
    struct span_pair {
        span_ptr operation;
        span_ptr attempt;
    };

    /// Tracers use the wall clock.
    static std::chrono::system_clock::time_point at(const hf::observed::operation& of,
                                                    hf::time_point when)
    {
        return of.began_at +
               std::chrono::duration_cast<std::chrono::system_clock::duration>(when - of.began);
    }

    std::map<std::uint64_t, span_pair> open_;
};

/// The longest and the number of operations, by name and outcome.
class latencies final : public hf::observer {
public:
    using hf::observer::on;

    void on(const hf::observed::operation_ended& e) noexcept override
    {
        const std::string outcome = e.why != nullptr ? e.why->code().message() : "success";
        figures& of = all[{std::string{e.of.service} + " " + std::string{e.of.name}, outcome}];
        ++of.count;
        of.longest = std::max(of.longest, e.ended - e.of.began);
    }

    void on(const hf::observed::records_dropped& e) noexcept override { dropped += e.operations; }

    struct figures {
        int count = 0;
        hf::duration longest{};
    };
    std::map<std::pair<std::string, std::string>, figures> all;
    std::uint64_t dropped = 0;
};

asio::awaitable<void> serve(cb::cluster db)
{
    const auto airlines = db["default"].default_collection();
    const auto request = start_span("GET /airlines/KLM", {}, std::chrono::system_clock::now());

    const hf::trace_parent parent = request;
    const cb::raw_json klm{R"({"name":"KLM"})"};
    co_await airlines.upsert("KLM", klm, {.parent = &parent});
    const auto none = co_await airlines.get("KLX", {.parent = &parent}, asio::use_awaitable);
    if (none)
        std::cout << "a document that nothing has stored\n";

    co_await db.close();  // the observers have all events by then
    end_span(*request, std::chrono::system_clock::now(), "");
}

}  // namespace

int main()
{
    auto lab = hf::lab::couchbase_cluster::start().value();
    asio::io_context loop;
    const auto figures = std::make_shared<latencies>();
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", "password"};
    options.observers = {std::make_shared<tracing>(), figures};
    options.log = hf::console_log(hf::severity::warning);
    options.thresholds.key_value = 250ms;
    std::exception_ptr failed;
    asio::co_spawn(loop, serve(cb::cluster{loop.get_executor(), lab.uri(), options}),
                   [&](std::exception_ptr why) { failed = why; });
    loop.run();
    for (const auto& [of, seen] : figures->all)
        std::cout << of.first << ", " << of.second << ": " << seen.count << '\n';
    return failed || figures->all.size() != 2 || figures->dropped != 0 ? 1 : 0;
}
