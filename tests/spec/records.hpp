#pragma once
#include "format.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <variant>

/// What running a file produces, one record after the other.
namespace holdfast::spec {

struct case_result {
    std::string file;
    std::string description;
    std::string profile;
    outcome came;
};

/// A case that was run under another profile than the rest.
struct applied_exception {
    std::string text;
};

/// A file that no format recognises. It counts as one skipped case.
struct unknown_file {
    std::string file;
};

using record = std::variant<case_result, applied_exception, unknown_file>;
using record_sink = std::function<void(record)>;

/// "passed", "failed" or "skipped", and the reason of the latter two.
struct outcome_text {
    std::string_view outcome;
    std::string_view reason;
};
outcome_text to_text(const outcome& came);

/// One record as one line without its end, to send it from one process to another.
std::string to_line(const record& one);
/// Throws std::exception if the line is none of to_line().
record record_from_line(std::string_view line);

}  // namespace holdfast::spec
