#pragma once
#include "holdfast/bson/types.hpp"

#include <compare>
#include <cstdint>

namespace holdfast::lab::mongo {

/// The name of a write: its time, and the term of the primary that made it. Terms decide first.
struct optime {
    std::int64_t term = -1;
    bson::timestamp ts = {};

    friend bool operator==(const optime&, const optime&) = default;
    friend std::strong_ordering operator<=>(const optime& a, const optime& b) noexcept
    {
        if (const auto terms = a.term <=> b.term; terms != 0)
            return terms;
        if (const auto seconds = a.ts.seconds <=> b.ts.seconds; seconds != 0)
            return seconds;
        return a.ts.increment <=> b.ts.increment;
    }
};

}  // namespace holdfast::lab::mongo
