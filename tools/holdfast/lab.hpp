#pragma once
#include "holdfast/lab/mongo.hpp"

#include <CLI/App.hpp>

#include <string>

namespace holdfast::tool {

struct lab_options {
    lab::mongo_options mongo;
    std::string login = {};  // user:password
    bool forgetful = false;
};

void add_options(CLI::App& command, lab_options& options);

/// Status for main(): 0 when it was stopped by a signal or a command, 2 if the options make no
/// sense, 1 if it could not be started with them.
int run(const lab_options& options);

}  // namespace holdfast::tool
