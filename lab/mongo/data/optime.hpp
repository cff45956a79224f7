#pragma once
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/types.hpp"

#include <compare>
#include <cstddef>
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

/// MongoDB's electionId of a term: 7fffffff and the term.
inline bson::object_id election_id(std::int64_t term) noexcept
{
    bson::object_id id{};
    id.bytes[0] = 0x7f;
    id.bytes[1] = id.bytes[2] = id.bytes[3] = 0xff;
    for (std::size_t n = 0; n < 8; ++n)
        id.bytes[4 + n] = static_cast<std::uint8_t>(term >> (8 * (7 - n)));
    return id;
}

}  // namespace holdfast::lab::mongo
