#include "lab_couchbase.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "line_server.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace holdfast::tool {
namespace {

using cluster = lab::couchbase_cluster;

/// One line of the input; false if it is the last one.
bool obey_couchbase(cluster& of, std::string_view line)
{
    const std::size_t end = line.find_last_not_of(" \r");
    line = line.substr(0, end == line.npos ? 0 : end + 1);
    if (line == "quit")
        return false;
    if (line.empty())
        return true;
    const auto answer = of.command(std::string{line});
    if (answer) {
        for (const std::string& one : *answer)
            std::puts(one.c_str());
        std::puts("ok");
    } else {
        std::printf("error: %s\n", answer.error().message().c_str());
    }
    std::fflush(stdout);
    return true;
}

}  // namespace

std::string couchbase_footer()
{
    return "\nWith --couchbase it prints the connection string, more of them for TLS and for\n"
           "alternate addresses if there are any (\"tls: ...\", \"external: ...\"), and the "
           "address for\nHTTP (\"management: ...\"), where commands are taken, too: POST "
           "/lab/commands. The login\nis Administrator:password unless --auth says otherwise. "
           "It takes:\n" +
           cluster::command_help() + "  quit                          the same as a signal";
}

int run_couchbase(const lab_options& options)
{
    lab::couchbase_options wanted;
    wanted.nodes = options.nodes;
    wanted.replicas = options.replicas;
    wanted.buckets = options.buckets;
    wanted.host = options.mongo.host;
    wanted.bind = options.mongo.bind;
    wanted.port = options.mongo.port;
    wanted.tls_port = options.tls_port;
    wanted.management_port = options.management_port;
    wanted.service_port = options.service_port;
    wanted.services = options.services;
    wanted.external_host = options.external_host;
    wanted.tls_certificate = options.mongo.tls_certificate;
    if (!options.login.empty()) {
        const std::size_t colon = options.login.find(':');
        if (colon == 0 || colon == std::string::npos || colon + 1 == options.login.size()) {
            std::fprintf(stderr, "holdfast lab: --auth is USER:PASSWORD\n");
            return 2;
        }
        wanted.user = options.login.substr(0, colon);
        wanted.password = options.login.substr(colon + 1);
    }
    const int signals = open_signals();
    auto started = cluster::start(std::move(wanted));
    if (!started) {
        std::fprintf(stderr, "holdfast lab: %s\n", started.error().message().c_str());
        ::close(signals);
        const bool no_sense = started.error().context("phase") == "options" ||
                              started.error().code() == couchbase::errc::invalid_argument;
        return no_sense ? 2 : 1;
    }
    std::printf("%s\n", started->uri().c_str());
    if (!started->tls_uri().empty())
        std::printf("tls: %s\n", started->tls_uri().c_str());
    if (!started->external_uri().empty())
        std::printf("external: %s\n", started->external_uri().c_str());
    std::printf("management: %s\n", started->management_url().c_str());
    std::fflush(stdout);
    serve_lines(signals, [&](std::string_view line) { return obey_couchbase(*started, line); });
    ::close(signals);
    return 0;
}

}  // namespace holdfast::tool
