#pragma once
#include "support/other_world.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::proof {

/// Another world with one thing changed: what chance() gives. Chance is drawn in eight bytes, and
/// nothing else is.
class bent_world final : public other_world {
public:
    using other_world::other_world;

    /// All bits of it: 0x00 is no jitter at all, 0xFF nearly all of it.
    std::optional<std::uint8_t> chance_bits = {};

    void random(std::span<std::uint8_t> into) override
    {
        if (chance_bits && into.size() == 8)
            std::ranges::fill(into, *chance_bits);
        else
            other_world::random(into);
    }
};

}  // namespace holdfast::proof
