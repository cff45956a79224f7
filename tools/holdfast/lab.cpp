#include "lab.hpp"

#include "lab_couchbase.hpp"
#include "line_server.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::tool {
namespace {

constexpr const char* footer =
    "Prints the connection string, and one more line each for routers (\"routers: ...\") and load\n"
    "balancer (\"balancer: ...\"). Stop it with SIGINT or SIGTERM. Meanwhile it can be broken by\n"
    "lines on its standard input; members are counted from 0, and each line is answered by lines\n"
    "of which the last one begins with \"ok\" or \"error\":\n"
    "  primary      ok N, the member that leads, after waiting for one if there is none\n"
    "  stepdown [S] the primary hands over and stays down for S seconds (10)\n"
    "  crash N      the process of member N dies; its disk stays\n"
    "  restart N    it comes back\n"
    "  freeze N     it answers nothing any more\n"
    "  thaw N       it goes on\n"
    "  status       one line per member: number, address, state, term, newest write\n"
    "  quit         the same as a signal";

std::optional<std::size_t> number_in(std::string_view text)
{
    std::size_t value = 0;
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (why != std::errc{} || end != text.data() + text.size() || value > 1'000'000)
        return std::nullopt;
    return value;
}

void answer(const result<void>& outcome)
{
    if (outcome)
        std::puts("ok");
    else
        std::printf("error: %s\n", outcome.error().message().c_str());
}

result<void> break_member(lab::mongo_cluster& of, std::string_view text, std::size_t member)
{
    if (text == "crash")
        return of.crash(member);
    if (text == "restart")
        return of.restart(member);
    if (text == "freeze")
        return of.freeze(member);
    return of.thaw(member);
}

/// One line of the input; false if it is the last one.
bool obey(lab::mongo_cluster& of, std::string_view line)
{
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
    const std::size_t space = line.find(' ');
    const std::string_view token = line.substr(0, space);
    const std::string_view rest = space == line.npos ? std::string_view{} : line.substr(space + 1);
    const auto number = number_in(rest);
    const bool needs_member = token == "crash" || token == "restart" || token == "freeze" ||
                              token == "thaw";
    if (token == "quit")
        return false;
    if (token.empty())
        return true;
    if (needs_member && number) {
        answer(break_member(of, token, *number));
    } else if (token == "stepdown" && (rest.empty() || number)) {
        answer(of.step_down(std::chrono::seconds{number.value_or(10)}));
    } else if (token == "primary" && rest.empty()) {
        const auto leads = of.wait_for_primary();
        if (leads)
            std::printf("ok %zu\n", *leads);
        else
            std::printf("error: %s\n", leads.error().message().c_str());
    } else if (token == "status" && rest.empty()) {
        for (const std::string& one : of.status())
            std::puts(one.c_str());
        std::puts("ok");
    } else {
        std::puts("error: not understood; holdfast lab --help lists what is");
    }
    std::fflush(stdout);
    return true;
}

}  // namespace

namespace {

const CLI::Range a_port{0, 65'535};

/// Those that make no sense with --couchbase.
std::vector<CLI::Option*> add_mongo_options(CLI::App& command, lab_options& options)
{
    lab::mongo_options& mongo = options.mongo;
    return {
        command.add_option("--members", mongo.members, "Members of the replica set")
            ->capture_default_str(),
        command.add_option("--arbiters", mongo.arbiters, "How many of them have no data")
            ->capture_default_str(),
        command.add_flag("--standalone", mongo.standalone, "One server that is in no set"),
        command.add_option("--routers", mongo.routers, "Routers in front of the set")
            ->capture_default_str(),
        command.add_flag("--load-balancer", mongo.load_balancer,
                         "A load balancer before the routers"),
        command.add_option("--version", mongo.version, "What the servers claim to be, 3.6 to 8.2")
            ->capture_default_str(),
        command.add_option("--set-name", mongo.set_name, "Of the replica set")
            ->capture_default_str(),
        command.add_flag("--forget-retryable-writes", options.forgetful,
                         "A defect on purpose: a retried write is carried out twice"),
    };
}

void add_shared_options(CLI::App& command, lab_options& options)
{
    lab::mongo_options& mongo = options.mongo;
    command.add_option("--auth", options.login, "USER:PASSWORD: a login is needed, and this is it");
    command
        .add_option("--port", mongo.port, "Of the first member, the others follow; 0: free ones")
        ->check(a_port)
        ->capture_default_str();
    command.add_option("--host", mongo.host, "The name under which clients find the servers")
        ->capture_default_str();
    command.add_option("--bind", mongo.bind, "The address to listen at; 0.0.0.0 lets others in")
        ->capture_default_str();
    command.add_option("--tls", mongo.tls_certificate, "A PEM file with certificate and key");
}

/// Those that make no sense without --couchbase.
std::vector<CLI::Option*> add_couchbase_options(CLI::App& command, lab_options& options)
{
    return {
        command.add_option("--nodes", options.nodes, "Nodes of the Couchbase cluster")
            ->capture_default_str(),
        command.add_option("--replicas", options.replicas, "Copies of its buckets, 0 to 3")
            ->capture_default_str(),
        command
            .add_option("--tls-port", options.tls_port, "Of its first node, with --tls; 0: free")
            ->check(a_port)
            ->capture_default_str(),
        command
            .add_option("--management-port", options.management_port,
                        "For management, of its first node; 0: free")
            ->check(a_port)
            ->capture_default_str(),
        command
            .add_option("--service-port", options.service_port,
                        "For views, query, search and analytics of its first node; 0: free")
            ->check(a_port)
            ->capture_default_str(),
        command.add_option("--services", options.services,
                           "Of its first node, \"kv,query\"; again for the next; else all"),
        command.add_option("--external", options.external_host,
                           "A name for a second set of ports, announced as alternate addresses"),
        command.add_option("--bucket", options.buckets, "Its buckets; may be repeated")
            ->capture_default_str(),
    };
}

}  // namespace

void add_options(CLI::App& command, lab_options& options)
{
    const auto of_mongo = add_mongo_options(command, options);
    add_shared_options(command, options);
    CLI::Option* const couchbase = command.add_flag(
        "--couchbase", options.couchbase,
        "A Couchbase cluster instead; takes the options below, --auth, --port, --host,\n"
        "--bind and --tls");
    for (CLI::Option* const one : of_mongo)
        one->excludes(couchbase);
    for (CLI::Option* const one : add_couchbase_options(command, options))
        one->needs(couchbase);
    command.footer(std::string{footer} + couchbase_footer());
}

int run(const lab_options& options)
{
    if (options.couchbase)
        return run_couchbase(options);
    lab::mongo_options mongo = options.mongo;
    mongo.remembers_retryable_writes = !options.forgetful;
    if (!options.login.empty()) {
        const std::size_t colon = options.login.find(':');
        if (colon == 0 || colon == std::string::npos || colon + 1 == options.login.size()) {
            std::fprintf(stderr, "holdfast lab: --auth is USER:PASSWORD\n");
            return 2;
        }
        mongo.user = options.login.substr(0, colon);
        mongo.password = options.login.substr(colon + 1);
    }
    const bool reachable = mongo.bind == "0.0.0.0" || mongo.bind == "::" || mongo.bind == "*";
    if (reachable && mongo.user.empty())
        std::fprintf(
            stderr,
            "warning: the lab listens at all addresses (--bind %s) and asks for no login: "
            "any program that reaches this machine may read, change and break it; use --auth\n",
            mongo.bind.c_str());
    const int signals = open_signals();
    auto started = lab::mongo_cluster::start(std::move(mongo));
    if (!started) {
        std::fprintf(stderr, "holdfast lab: %s\n", started.error().message().c_str());
        ::close(signals);
        return started.error().context("phase") == "options" ? 2 : 1;
    }
    std::printf("%s\n", started->uri().c_str());
    if (!started->router_uri().empty())
        std::printf("routers: %s\n", started->router_uri().c_str());
    if (!started->balancer_uri().empty())
        std::printf("balancer: %s\n", started->balancer_uri().c_str());
    std::fflush(stdout);
    serve_lines(signals, [&](std::string_view line) { return obey(*started, line); });
    ::close(signals);
    return 0;
}

}  // namespace holdfast::tool
