#pragma once
#include "format.hpp"

#include <filesystem>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::spec {

/// A mistake in the command line or in a file: printed in one line, and the status is 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct options {
    std::vector<std::filesystem::path> where;
    std::optional<std::regex> filter;
    std::optional<std::filesystem::path> json;
    settings run;
    std::size_t jobs = 1;  // processes
    bool list = false;
    bool verbose = false;
    bool help = false;
};

/// Throws usage_error.
options parse_options(std::span<const char* const> arguments);

extern const std::string_view help_text;

}  // namespace holdfast::spec
