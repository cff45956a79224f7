#include "lab.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdfast::tool {
namespace {

constexpr std::size_t longest_line = 4096;

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

/// Until a signal comes, or standard input orders it.
void serve(lab::mongo_cluster& of, int signals)
{
    std::string typed;
    std::array<pollfd, 2> awaited{pollfd{signals, POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    for (;;) {
        const int ready = ::poll(awaited.data(), awaited.size(), -1);
        if (ready < 0 && errno != EINTR)
            return;
        if ((awaited[0].revents & POLLIN) != 0)
            return;
        if (awaited[1].revents == 0)
            continue;
        std::array<char, 512> buffer{};
        const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (got <= 0 || typed.size() > longest_line) {
            awaited[1].fd = -1;  // the input has ended; signals go on
            continue;
        }
        typed.append(buffer.data(), static_cast<std::size_t>(got));
        for (std::size_t end = typed.find('\n'); end != typed.npos; end = typed.find('\n')) {
            const bool goes_on = obey(of, std::string_view{typed}.substr(0, end));
            typed.erase(0, end + 1);
            if (!goes_on)
                return;
        }
    }
}

}  // namespace

void add_options(CLI::App& command, lab_options& options)
{
    lab::mongo_options& mongo = options.mongo;
    command.add_option("--members", mongo.members, "Members of the replica set")
        ->capture_default_str();
    command.add_option("--arbiters", mongo.arbiters, "How many of them have no data")
        ->capture_default_str();
    command.add_flag("--standalone", mongo.standalone, "One server that is in no set");
    command.add_option("--routers", mongo.routers, "Routers in front of the set")
        ->capture_default_str();
    command.add_flag("--load-balancer", mongo.load_balancer, "A load balancer before the routers");
    command.add_option("--auth", options.login, "USER:PASSWORD: a login is needed, and this is it");
    command.add_option("--version", mongo.version, "What the servers claim to be, 3.6 to 8.2")
        ->capture_default_str();
    command
        .add_option("--port", mongo.port, "Of the first member, the others follow; 0: free ones")
        ->capture_default_str();
    command.add_option("--host", mongo.host, "The name under which clients find the servers")
        ->capture_default_str();
    command.add_option("--bind", mongo.bind, "The address to listen at; 0.0.0.0 lets others in")
        ->capture_default_str();
    command.add_option("--tls", mongo.tls_certificate, "A PEM file with certificate and key");
    command.add_option("--set-name", mongo.set_name, "Of the replica set")->capture_default_str();
    command.add_flag("--forget-retryable-writes", options.forgetful,
                     "A defect on purpose: a retried write is carried out twice");
    command.footer(footer);
}

int run(const lab_options& options)
{
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
    // Before there is a second thread, so that no thread takes them instead of us.
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &stopping, nullptr);
    ::signal(SIGTTIN, SIG_IGN);  // in the background of a terminal there is no input
    ::signal(SIGPIPE, SIG_IGN);
    const int signals = ::signalfd(-1, &stopping, SFD_CLOEXEC);

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
    serve(*started, signals);
    ::close(signals);
    return 0;
}

}  // namespace holdfast::tool
