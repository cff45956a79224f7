#include "drill.hpp"

#include "drill_deployment.hpp"
#include "tools/holdfast/drill/report.hpp"
#include "tools/holdfast/drill/scenarios.hpp"
#include "tools/holdfast/drill/workload.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int status_interrupted = 130;  // as shells have it

std::atomic<bool> interrupted = false;
std::atomic<bool> can_conclude = false;  // what was run so far can still be judged

/// The first one ends the scenarios early, and the second one the process.
void interrupt(int)
{
    if (can_conclude) {
        interrupted = true;
        std::signal(SIGINT, SIG_DFL);
        std::signal(SIGTERM, SIG_DFL);
        return;
    }
    constexpr std::string_view description = "holdfast drill: interrupted: nothing was judged\n";
    (void)!::write(STDERR_FILENO, description.data(), description.size());
    ::_exit(status_interrupted);
}

int say(int status, const std::string& why)
{
    std::fprintf(stderr, "holdfast drill: %s\n", why.c_str());
    return status;
}
int wrong(const std::string& why)
{
    return say(2, why);
}

/// The scenarios that were asked for, or what is wrong with them.
result<std::vector<const drill::scenario*>> choose_scenarios(const drill_options& options)
{
    const auto refuse = [](std::string why) {
        return error{make_error_code(boost::system::errc::invalid_argument), std::move(why)};
    };
    std::string known;
    const auto kind = kind_of(options);
    for (const drill::scenario& one : drill::scenarios_of(kind))
        known.append(known.empty() ? "" : ", ").append(one.name);
    std::vector<const drill::scenario*> chosen;
    for (const std::string& name : options.scenarios) {
        const drill::scenario* const one = drill::find_scenario(name, kind);
        if (!one)
            return refuse("there is no scenario \"" + name + "\"; there are " + known);
        if (one->needs && options.uri)
            return refuse("the scenario \"" + name + "\" breaks servers, which is done to the " +
                          "embedded servers only; with --uri there is: steady");
        chosen.push_back(one);
    }
    if (!chosen.empty())
        return chosen;
    for (const drill::scenario& one : drill::scenarios_of(kind)) {
        if (!options.uri || !one.needs)
            chosen.push_back(&one);
    }
    return chosen;
}

/// In columns.
std::size_t terminal_width()
{
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// One line that is rewritten on a terminal, and a line a second elsewhere.
class live_view {
public:
    live_view(drill::workload& of, const std::vector<const drill::scenario*>& scenarios)
        : of_{of},
          scenarios_{scenarios},
          terminal_{::isatty(STDOUT_FILENO) == 1},
          last_{clock::now()}
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
        const std::string primary = of_.leader();
        std::array<char, 300> text{};
        std::snprintf(text.data(), text.size(),
                      "%-9s %5.0f/s %7llu acknowledged %5llu retried %3llu failed  %s",
                      std::string{scenarios_[now.scenario]->name}.c_str(), rate,
                      static_cast<unsigned long long>(now.acknowledged),
                      static_cast<unsigned long long>(of_.retries()),
                      static_cast<unsigned long long>(now.failed),
                      primary.empty() ? "no primary" : primary.c_str());
        if (terminal_)  // the last column stays free: some terminals go on to the next line there
            text[std::min(terminal_width() - 1, text.size() - 1)] = '\0';
        std::printf(terminal_ ? "\r\033[K%s" : "%s\n", text.data());
        std::fflush(stdout);
    }
    void clear() const
    {
        if (terminal_)
            std::printf("\r\033[K");
        std::fflush(stdout);
    }

private:
    drill::workload& of_;
    const std::vector<const drill::scenario*>& scenarios_;
    bool terminal_;
    clock::time_point last_;
    std::uint64_t shown_ = 0;
};

drill::scenario_report run_scenario(const drill::scenario& one, const drill::scenario_context& in,
                                    live_view& view)
{
    drill::scenario_report made;
    made.name = one.name;
    made.needs_faults = one.needs.has_value();
    if (interrupted) {
        made.ran = drill::extent::not_at_all;
        return made;
    }
    const std::uint64_t before = in.clients->retries();
    auto running = std::async(std::launch::async, one.run, in);
    while (running.wait_for(view.pace()) != std::future_status::ready)
        view.show();
    const auto faults = running.get();
    if (faults)
        made.faults = *faults;
    else
        made.trouble = faults.error().message();
    made.retries = in.clients->retries() - before;
    made.ran = interrupted ? drill::extent::in_part : drill::extent::in_full;
    return made;
}

drill::drill_report run_all(const std::vector<const drill::scenario*>& scenarios,
                            const drill::scenario_context& in)
{
    drill::drill_report made;
    live_view view{*in.clients, scenarios};
    can_conclude = true;
    in.clients->begin();
    for (std::size_t n = 0; n < scenarios.size(); ++n) {
        if (!interrupted)
            in.clients->progress().scenario = n;
        made.scenarios.push_back(run_scenario(*scenarios[n], in, view));
    }
    can_conclude = false;
    view.clear();
    return made;
}

int conclude(const drill::scenario_context& in, drill::drill_report report, clock::time_point began,
             std::string& verdict)
{
    drill::workload& clients = *in.clients;
    report.all_came_back = clients.finish(30s);
    auto found = clients.read_back(20s);
    if (found)
        found->replicas_promoted = in.servers != nullptr && in.servers->replicas_promoted();
    if (!found)
        return say(1, "what was written could not be read again: " + found.error().message());
    report.found = drill::judge(clients.history(), *found, report.scenarios.size());
    report.seconds = std::chrono::duration<double>(clock::now() - began).count();
    clients.clean_up();
    std::fputs(drill::draw(report).c_str(), stdout);
    verdict = drill::to_json(report);
    if (!drill::passed(report))
        return 1;
    return drill::was_interrupted(report) ? status_interrupted : 0;
}

void announce(const drill_options& options, const std::vector<const drill::scenario*>& scenarios)
{
    const std::string embedded = std::string{"an embedded "} +
                                 (options.couchbase ? "cluster" : "set") + " of " +
                                 std::to_string(options.members);
    std::printf("%zu clients write to %s\n", options.clients,
                options.uri ? "the deployment" : embedded.c_str());
    for (const drill::scenario* const one : scenarios)
        std::printf("  %-9s  %us: %s\n", std::string{one->name}.c_str(), options.seconds,
                    std::string{one->what}.c_str());
    std::fflush(stdout);
}

int run_drill(const drill_options& options, const std::vector<const drill::scenario*>& scenarios,
              std::string& verdict)
{
    const auto began = clock::now();
    auto opened = open_deployment(options);
    if (!opened)
        return wrong(opened.error().message());
    drill::workload& clients = *opened->clients;
    if (const auto prepared = clients.prepare(); !prepared)
        return say(names_no_server(prepared.error()) ? 2 : 1, prepared.error().message());
    announce(options, scenarios);
    drill::scenario_context in;
    in.clients = &clients;
    in.servers = opened->servers.get();
    in.interrupted = &interrupted;
    in.length = std::chrono::seconds{options.seconds};
    return conclude(in, run_all(scenarios, in), began, verdict);
}

/// The parser itself would take -1, and whatever is too large, for the largest number.
std::string is_seed(const std::string& text)
{
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const bool good = read.ec == std::errc{} && read.ptr == end;
    return good ? "" : text + " is no whole number from 0 to 2^64 - 1";
}

/// What an earlier drill has left there stays until there is a new verdict.
bool write_verdict(const std::string& verdict, std::FILE* to)
{
    bool written = true;
    if (!verdict.empty()) {
        // A device has no length that could be cut.
        const bool cleared = ::ftruncate(::fileno(to), 0) == 0 || errno == EINVAL;
        written = cleared && std::fprintf(to, "%s\n", verdict.c_str()) > 0;
    }
    return std::fclose(to) == 0 && written;
}

}  // namespace

void add_options(CLI::App& command, drill_options& options)
{
    command
        .add_option("--scenarios", options.scenarios,
                    "Which, in which order: steady,stepdown,crash,freeze,overload; with\n"
                    "--couchbase steady,failover,rebalance,crash,overload")
        ->delimiter(',');
    command.add_flag("--couchbase", options.couchbase, "A Couchbase cluster, not a MongoDB set");
    command.add_option("--clients", options.clients, "How many write at a time")
        ->check(CLI::Range(1U, 500U))
        ->capture_default_str();
    command.add_option("--seconds", options.seconds, "How long each scenario takes")
        ->check(CLI::Range(1U, 86'400U))
        ->capture_default_str();
    CLI::Option* const uri = command.add_option(
        "--uri", options.uri, "A deployment of your own: only scenarios that break no server");
    command.add_option("--user", options.user, "Of the Couchbase cluster at --uri")->needs(uri);
    command
        .add_option("--password", options.password,
                    "Its password; better in the environment, as HOLDFAST_PASSWORD")
        ->needs(uri);
    command.add_option("--bucket", options.bucket, "Of that cluster")
        ->needs(uri)
        ->capture_default_str();
    command.add_option("--members", options.members, "Of the embedded servers")
        ->check(CLI::Range(3U, 50U))
        ->excludes(uri)
        ->capture_default_str();
    command.add_option("--port", options.port, "Of its first member; 0: free ones")
        ->excludes(uri)
        ->capture_default_str();
    command.add_flag("--no-retryable-writes", options.no_retryable_writes,
                     "Clients that do not repeat writes safely");
    command.add_flag("--naive-retry", options.naive_retry,
                     "An application that does every failed write again by itself");
    command
        .add_flag("--forget-retryable-writes", options.forgetful,
                  "A defect on purpose: servers carry out a retried write twice")
        ->excludes(uri);
    command.add_option("--json", options.json, "Also write the verdict to this file");
    command.add_option("--seed", options.seed, "Of the writes that clients draw")
        ->check(is_seed)
        ->capture_default_str();
    command.footer(
        "Starts a replica set, or a Couchbase cluster, in this process, lets clients write to it,\n"
        "breaks it meanwhile, and compares what was reported to clients with what is there in the\n"
        "end:\n"
        "  steady     nothing happens\n"
        "  stepdown   the primary hands over, again and again (MongoDB)\n"
        "  failover   nodes are failed over, hard or gracefully, and replaced (Couchbase)\n"
        "  rebalance  nodes join and leave, and vbuckets move (Couchbase)\n"
        "  crash      the primary or a node crashes, and comes back\n"
        "  freeze     the primary answers nothing for a while (MongoDB)\n"
        "  overload   servers refuse two requests of three\n"
        "A write that failed may be \"unclear\": it was sent, and no reply says what became of "
        "it.\n"
        "Status 0: nothing was lost or applied twice. 1: something was, or nothing could be "
        "shown.\n"
        "2: the options make no sense. 130: interrupted. To see what retryable writes are good "
        "for:\n"
        "  holdfast drill --no-retryable-writes --naive-retry\n"
        "With --uri, a collection of the database holdfast_drill is made, and dropped at the end;\n"
        "in Couchbase, documents of the bucket's default collection, whose keys begin with\n"
        "holdfast_drill, are made, and removed at the end.");
}

int run(const drill_options& options)
{
    if (options.uri && options.uri->empty())
        return wrong("--uri is empty; without it, servers are embedded");
    if (!options.couchbase && options.uri && options.uri->starts_with("couchbase"))
        return wrong("--uri is that of a Couchbase cluster: add --couchbase");
    const auto scenarios = choose_scenarios(options);
    if (!scenarios)
        return wrong(scenarios.error().message());
    if (options.couchbase && (options.no_retryable_writes || options.forgetful))
        return wrong("retryable writes are MongoDB's: not with --couchbase");
    if (!options.couchbase && (!options.user.empty() || !options.password.empty()))
        return wrong("--user and --password go with --couchbase; a MongoDB URI has its own");
    if (options.couchbase && options.uri && options.user.empty())
        return wrong(
            "a Couchbase cluster needs a login: --user, and HOLDFAST_PASSWORD or --password");
    std::FILE* json = nullptr;
    if (!options.json.empty()) {
        json = std::fopen(options.json.c_str(), "a");
        if (!json)
            return wrong("cannot write to " + options.json);
    }
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    std::signal(SIGPIPE, SIG_IGN);
    std::string verdict;
    const int status = run_drill(options, *scenarios, verdict);
    if (json && !write_verdict(verdict, json))
        return say(1, "the verdict could not be written to " + options.json);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return say(status == 0 ? 1 : status, "not all could be written to standard output");
    return status;
}

}  // namespace holdfast::tool
