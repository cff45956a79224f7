#include "drill.hpp"

#include "tools/holdfast/drill/report.hpp"
#include "tools/holdfast/drill/scenes.hpp"
#include "tools/holdfast/drill/stage.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::atomic<bool> interrupted = false;

void interrupt(int)
{
    interrupted = true;
}

int wrong(const std::string& why)
{
    std::fprintf(stderr, "holdfast drill: %s\n", why.c_str());
    return 2;
}

/// The scenes that were asked for, or what is wrong with them.
result<std::vector<const drill::scene*>> choose_scenes(const drill_options& options)
{
    const auto refuse = [](std::string why) {
        return error{make_error_code(boost::system::errc::invalid_argument), std::move(why)};
    };
    std::string known;
    for (const drill::scene& one : drill::all_scenes())
        known.append(known.empty() ? "" : ", ").append(one.name);
    std::vector<const drill::scene*> chosen;
    for (const std::string& name : options.scenes) {
        const drill::scene* const one = drill::find_scene(name);
        if (!one)
            return refuse("there is no scene \"" + name + "\"; there are " + known);
        if (one->needs_servers && !options.uri.empty())
            return refuse("the scene \"" + name + "\" breaks servers, which is done to the " +
                          "embedded set only; with --uri there is: steady");
        chosen.push_back(one);
    }
    if (!chosen.empty())
        return chosen;
    for (const drill::scene& one : drill::all_scenes()) {
        if (options.uri.empty() || !one.needs_servers)
            chosen.push_back(&one);
    }
    return chosen;
}

/// One line that is rewritten on a terminal, and a line a second elsewhere.
class live_view {
public:
    live_view(drill::stage& of, const std::vector<const drill::scene*>& scenes)
        : of_{of}, scenes_{scenes}, terminal_{::isatty(STDOUT_FILENO) == 1}, last_{clock::now()}
    {
    }

    std::chrono::milliseconds pace() const { return terminal_ ? 250ms : 1000ms; }

    void show()
    {
        const drill::storm_progress& now = of_.progress();
        const std::uint64_t done = now.operations;
        const double passed = std::chrono::duration<double>(clock::now() - last_).count();
        const double rate = static_cast<double>(done - shown_) / std::max(passed, 0.001);
        shown_ = done;
        last_ = clock::now();
        const std::string primary = of_.primary();
        std::printf(
            "%s%-8s  %6.0f ops/s  %8llu acknowledged  %5llu retried  %5llu failed  "
            "primary %s%s",
            terminal_ ? "\r\033[K" : "", std::string{scenes_[now.scene]->name}.c_str(), rate,
            static_cast<unsigned long long>(now.acknowledged),
            static_cast<unsigned long long>(of_.retries()),
            static_cast<unsigned long long>(now.failed), primary.empty() ? "none" : primary.c_str(),
            terminal_ ? "" : "\n");
        std::fflush(stdout);
    }
    void clear() const
    {
        if (terminal_)
            std::printf("\r\033[K");
        std::fflush(stdout);
    }

private:
    drill::stage& of_;
    const std::vector<const drill::scene*>& scenes_;
    bool terminal_;
    clock::time_point last_;
    std::uint64_t shown_ = 0;
};

/// Plays all scenes; retries by scene.
std::vector<std::uint64_t> play(const std::vector<const drill::scene*>& scenes, drill::theatre in)
{
    std::vector<std::uint64_t> retries;
    live_view view{*in.clients, scenes};
    in.clients->begin();
    for (std::size_t n = 0; n < scenes.size(); ++n) {
        in.clients->progress().scene = n;
        const std::uint64_t before = in.clients->retries();
        auto playing = std::async(std::launch::async, scenes[n]->play, in);
        while (playing.wait_for(view.pace()) != std::future_status::ready)
            view.show();
        retries.push_back(in.clients->retries() - before);
    }
    view.clear();
    return retries;
}

drill::stage_options stage_options_of(const drill_options& options, std::string uri)
{
    drill::stage_options how;
    how.uri = std::move(uri);
    how.clients = options.clients;
    how.seed = options.seed;
    how.retryable_writes = !options.no_retryable_writes;
    how.repeats_by_itself = options.naive_retry;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    how.collection = "kelp_" + std::to_string(now / 1ms);
    return how;
}

int conclude(drill::stage& clients, drill::drill_report report, clock::time_point began,
             std::FILE* json)
{
    const bool ended = clients.finish(30s);
    const auto found = clients.read_back(20s);
    if (!found) {
        std::fprintf(stderr, "holdfast drill: what was written could not be read again: %s\n",
                     found.error().message().c_str());
        return 1;
    }
    report.found = drill::judge(clients.history(), *found, report.scenes.size());
    report.seconds = std::chrono::duration<double>(clock::now() - began).count();
    clients.clean_up();
    std::fputs(drill::draw(report).c_str(), stdout);
    if (json)
        std::fprintf(json, "%s\n", drill::to_json(report).c_str());
    const bool fine = ended && report.found.holds() && report.found.in_time() &&
                      report.found.total.acknowledged > 0;
    return fine ? 0 : 1;
}

int run_drill(const drill_options& options, const std::vector<const drill::scene*>& scenes,
              std::FILE* json)
{
    const auto began = clock::now();
    std::optional<lab::mongo_cluster> servers;
    if (options.uri.empty()) {
        lab::mongo_options how;
        how.members = options.members;
        how.port = options.port;
        how.remembers_retryable_writes = !options.forgetful;
        auto started = lab::mongo_cluster::start(std::move(how));
        if (!started)
            return wrong(started.error().message());
        servers.emplace(*std::move(started));
    }
    auto opened = drill::stage::open(
        stage_options_of(options, servers ? servers->uri() : options.uri));
    if (!opened)
        return wrong(opened.error().message());
    drill::stage& clients = **opened;
    if (const auto prepared = clients.prepare(); !prepared) {
        std::fprintf(stderr, "holdfast drill: %s\n", prepared.error().message().c_str());
        return 1;
    }
    std::printf("%zu clients write to %s\n", options.clients,
                servers ? ("an embedded set of " + std::to_string(options.members)).c_str()
                        : "the deployment");
    for (const drill::scene* const one : scenes)
        std::printf("  %-8s  %us: %s\n", std::string{one->name}.c_str(), options.seconds,
                    std::string{one->what}.c_str());
    std::fflush(stdout);
    drill::theatre in;
    in.clients = &clients;
    in.servers = servers ? &*servers : nullptr;
    in.interrupted = &interrupted;
    in.length = std::chrono::seconds{options.seconds};
    drill::drill_report report;
    report.retries = play(scenes, in);
    for (const drill::scene* const one : scenes)
        report.scenes.emplace_back(one->name);
    return conclude(clients, std::move(report), began, json);
}

}  // namespace

void add_options(CLI::App& command, drill_options& options)
{
    command
        .add_option("--scenes", options.scenes, "Which, in which order: steady,stepdown,crash,...")
        ->delimiter(',');
    command.add_option("--clients", options.clients, "How many write at a time")
        ->check(CLI::Range(1U, 500U))
        ->capture_default_str();
    command.add_option("--seconds", options.seconds, "How long each scene takes")
        ->check(CLI::Range(1U, 86'400U))
        ->capture_default_str();
    command.add_option("--uri", options.uri,
                       "A deployment of your own: only scenes that break no server");
    command.add_option("--members", options.members, "Of the embedded set")
        ->check(CLI::Range(3U, 50U))
        ->capture_default_str();
    command.add_option("--port", options.port, "Of its first member; 0: free ones")
        ->capture_default_str();
    command.add_flag("--no-retryable-writes", options.no_retryable_writes,
                     "Clients that do not repeat writes safely");
    command.add_flag("--naive-retry", options.naive_retry,
                     "An application that does every failed write again by itself");
    command.add_flag("--forget-retryable-writes", options.forgetful,
                     "A defect on purpose: servers carry out a retried write twice");
    command.add_option("--json", options.json, "Also write the verdict to this file");
    command.add_option("--seed", options.seed, "Of the writes that clients draw")
        ->capture_default_str();
    command.footer(
        "Starts a replica set in this process, lets clients write to it, breaks it meanwhile, and\n"
        "compares what clients were told with what is there in the end:\n"
        "  steady    nothing happens\n"
        "  stepdown  the primary hands over, again and again\n"
        "  crash     the primary crashes, and comes back\n"
        "  overload  the primary refuses two requests of three\n"
        "A write that failed may be \"unclear\": it was sent, and nobody told what became of it.\n"
        "Status 0: nothing was lost or applied twice. 1: something was, or nothing could be "
        "shown.\n"
        "2: the options make no sense. To see what retryable writes are good for:\n"
        "  holdfast drill --no-retryable-writes --naive-retry\n"
        "With --uri, a collection of the database holdfast_drill is made, and dropped at the end.");
}

int run(const drill_options& options)
{
    const auto scenes = choose_scenes(options);
    if (!scenes)
        return wrong(scenes.error().message());
    std::FILE* json = nullptr;
    if (!options.json.empty()) {
        json = std::fopen(options.json.c_str(), "w");
        if (!json)
            return wrong("cannot write to " + options.json);
    }
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    std::signal(SIGPIPE, SIG_IGN);
    const int status = run_drill(options, *scenes, json);
    if (json)
        std::fclose(json);
    return status;
}

}  // namespace holdfast::tool
