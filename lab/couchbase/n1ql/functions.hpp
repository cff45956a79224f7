#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/n1ql/value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql {

/// What expressions need besides the row.
struct environment {
    const json::object* named = nullptr;      // parameters, without the dollar
    const json::array* positional = nullptr;  // parameters
    std::int64_t now_millis = 0;              // since 1970
    std::optional<error> failed = {};         // the first of what cannot be computed
    std::size_t made_bytes = 0;               // for one row, see take_memory()
};

/// What the values of one row may need, besides the documents and parameters themselves.
inline constexpr std::size_t most_made_bytes = std::size_t{64} * 1024 * 1024;

/// Before so much is made; false, with environment::failed, if it would be too much.
bool take_memory(environment& in, std::size_t bytes);

/// A function of values. Its arguments may be changed by it.
struct function {
    std::string_view name;  // in capitals
    std::size_t least;      // arguments
    std::size_t most;
    value (*run)(std::span<value> arguments, environment& in);
    /// Whether it is called with MISSING and NULL, too; else they are its outcome.
    bool takes_nothing = false;
};

inline constexpr std::size_t most_arguments = 100;
inline constexpr std::int64_t longest_made_array = 1'000'000;

/// By a name in capitals; null if there is none.
const function* find_function(std::string_view name);

/// The numbers of ARRAY_RANGE(start, end, step), one after the other.
struct number_range {
    double next = 0;
    double end = 0;
    double step = 1;

    std::optional<double> take() noexcept;
    double count() const noexcept;
};
std::optional<number_range> range_of(std::span<const value> arguments);

}  // namespace holdfast::lab::couchbase::n1ql
