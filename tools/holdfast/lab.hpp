#pragma once
#include "holdfast/lab/mongo.hpp"

#include <CLI/App.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::tool {

struct lab_options {
    lab::mongo_options mongo;
    std::string login = {};  // user:password
    bool forgetful = false;

    bool couchbase = false;
    std::size_t nodes = 1;
    std::size_t replicas = 0;
    std::uint16_t tls_port = 0;
    std::uint16_t management_port = 0;
    std::uint16_t service_port = 0;
    std::vector<std::string> services = {};  // of each node
    std::string external_host = {};
    std::vector<std::string> buckets = {"default"};
};

void add_options(CLI::App& command, lab_options& options);

/// Status for main(): 0 when it was stopped by a signal or a command, 2 if the options make no
/// sense, 1 if it could not be started with them.
int run(const lab_options& options);

}  // namespace holdfast::tool
