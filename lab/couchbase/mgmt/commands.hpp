#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "runtime/awaitable.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The commands that break and mend a cluster: one line each, the same on the program's standard
/// input, by HTTP and from C++.
namespace holdfast::lab::couchbase {

/// Carries out a line; gives the lines of the answer. Errors are errc::invalid_argument for a line
/// that is not understood, and those of class cluster.
runtime::awaitable<result<std::vector<std::string>>> carry_out(cluster& on, std::string line);

/// The same for a command that does not take long.
result<std::vector<std::string>> carry_out_now(cluster& on, std::string_view line);

/// Whether that may take long, or end the node that is asked.
bool is_long_command(std::string_view line);
/// Whether such a command can begin now.
result<void> check_command(cluster& on, std::string_view line);

/// One line for each, for people.
std::string command_help();

}  // namespace holdfast::lab::couchbase
