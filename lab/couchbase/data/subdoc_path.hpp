#pragma once
#include "lab/couchbase/data/status.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::lab::couchbase {

inline constexpr std::size_t max_path_bytes = 1024;

/// A member's name, or an index into an array: -1 is the last element.
using path_step = std::variant<std::string, std::int64_t>;

/// `a.b[0].c`, `[-1]`, and names in back-ticks if they have dots or brackets in them.
struct subdoc_path {
    std::vector<path_step> steps = {};

    bool empty() const noexcept { return steps.empty(); }
    const std::int64_t* last_index() const;
    const std::string* last_name() const;
};

struct parsed_path {
    kv_status code = kv_status::success;  // subdoc_path_invalid, subdoc_path_too_big
    subdoc_path path = {};
};

parsed_path parse_path(std::string_view text);

}  // namespace holdfast::lab::couchbase
