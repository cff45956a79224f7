#pragma once
#include "options.hpp"
#include "records.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace holdfast::spec {

/// Runs the files in as many processes at a time as the options allow, and returns how many cases
/// there were. Records arrive in the order of the files, as from one process. A process that
/// crashes is a failure of the file that it was running; another one takes its place. Throws
/// usage_error if a file cannot be read. The caller must have no thread but this one.
std::size_t run_in_processes(const std::vector<std::filesystem::path>& files, const options& wanted,
                             const record_sink& to);

}  // namespace holdfast::spec
