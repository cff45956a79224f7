#pragma once
#include <CLI/App.hpp>

#include <cstdint>
#include <string>

namespace holdfast::tool {

struct ping_options {
    std::string uri;
    std::uint32_t count = 1;
    std::uint32_t interval_ms = 0;
    bool sync = false;
    std::string user;      // of a Couchbase cluster, whose connection strings name none
    std::string password;  // empty: that of the environment
};

void add_options(CLI::App& command, ping_options& options);

/// Status for main(): 0 if all pings were answered, 1 if not, 2 if the connection string is wrong.
int run(const ping_options& options);

}  // namespace holdfast::tool
