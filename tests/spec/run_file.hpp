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

/// What keeps a file from running beside others.
struct file_needs {
    /// Its cases listen on ports that it names: two of its kind cannot run at the same time.
    bool fixed_ports = false;
    /// Its cases have limits or delays so short that they fail if other processes make them late.
    /// Virtual time is never late.
    bool exact_times = false;
};
/// Throws as run_file() does.
file_needs needs_of(const std::filesystem::path& path);

}  // namespace holdfast::spec
