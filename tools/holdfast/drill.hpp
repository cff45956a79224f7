#pragma once
#include <CLI/App.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::tool {

struct drill_options {
    std::vector<std::string> scenarios = {};  // empty: all that are possible
    std::size_t clients = 8;
    std::uint32_t seconds = 8;  // of each scenario
    bool couchbase = false;  // not MongoDB
    std::optional<std::string> uri = {};  // none: embedded servers
    std::string user = {};      // of a Couchbase cluster at that address
    std::string password = {};  // empty: that of the environment
    std::string bucket = "default";
    std::size_t members = 3;
    std::uint16_t port = 0;
    bool no_retryable_writes = false;
    bool naive_retry = false;
    bool forgetful = false;
    std::string json = {};
    std::uint64_t seed = 1;
};

void add_options(CLI::App& command, drill_options& options);

/// Status for main(): 0 if nothing was lost or applied twice, 1 if something was, or if nothing
/// could be shown, 2 if the options make no sense, 130 if it was interrupted.
int run(const drill_options& options);

}  // namespace holdfast::tool
