#pragma once
#include "options.hpp"
#include "records.hpp"

#include <cstddef>
#include <filesystem>

namespace holdfast::spec {

/// Runs, or lists, the chosen cases of one file, and returns how many there were. Throws
/// usage_error if the file cannot be read.
std::size_t run_file(const std::filesystem::path& path, const options& wanted,
                     const record_sink& to);

/// Whether cases of the file listen on ports that the file names, so that two of its kind cannot
/// run at the same time. Throws as run_file() does.
bool needs_fixed_ports(const std::filesystem::path& path);

}  // namespace holdfast::spec
