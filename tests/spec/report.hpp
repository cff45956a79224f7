#pragma once
#include "records.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::spec {

/// Gathers the outcome of each case and prints it: failures at once, skips and counts at the end.
class report {
public:
    explicit report(bool verbose) : verbose_{verbose} {}

    void add(record one);

    /// Prints what was skipped and why, how many for each reason, and the counts as the last line.
    void print_summary() const;

    /// Throws usage_error if the file cannot be written.
    void write_json(const std::filesystem::path& to) const;

    bool has_failures() const noexcept { return failed_ != 0; }

private:
    void take(case_result one);
    void take(applied_exception one);
    void take(unknown_file one);
    void print_reasons() const;

    std::vector<case_result> entries_;
    std::vector<std::string> unknown_;
    std::vector<std::string> exceptions_;
    std::size_t passed_ = 0;
    std::size_t failed_ = 0;
    std::size_t skipped_ = 0;
    bool verbose_;
};

}  // namespace holdfast::spec
