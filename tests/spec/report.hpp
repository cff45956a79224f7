#pragma once
#include "exceptions.hpp"
#include "format.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::spec {

/// Gathers what came of each case and tells it: failures at once, skips and counts at the end.
class report {
public:
    explicit report(bool verbose) : verbose_{verbose} {}

    void add(const std::string& file, const std::string& description, std::string_view profile,
             outcome came);

    /// A case that is run under another profile than the rest; printed after the count.
    void add_exception(const std::string& name, const exception& what);

    /// A file that no format recognises is one skipped case.
    void add_unknown(const std::string& file);

    /// Prints what was skipped and why, how many for each reason, and the counts as the last line.
    void print_summary() const;

    /// Throws usage_error if the file cannot be written.
    void write_json(const std::filesystem::path& to) const;

    bool has_failures() const noexcept { return failed_ != 0; }

private:
    void print_reasons() const;

    struct entry {
        std::string file;
        std::string description;
        std::string profile;
        outcome came;
    };

    std::vector<entry> entries_;
    std::vector<std::string> unknown_;
    std::vector<std::string> exceptions_;
    std::size_t passed_ = 0;
    std::size_t failed_ = 0;
    std::size_t skipped_ = 0;
    bool verbose_;
};

}  // namespace holdfast::spec
