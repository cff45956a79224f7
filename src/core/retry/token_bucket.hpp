#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>

namespace holdfast::core {

/// An amount of retry tokens, exact to a tenth: ten deposits of 0.1 are one token and nothing less.
struct tokens {
    std::int32_t tenths = 0;

    static constexpr tokens whole(std::int32_t count) noexcept { return {count * 10}; }
    friend constexpr auto operator<=>(tokens, tokens) = default;
};

/// A retry budget as a value. Spending gives a new bucket; nothing is locked, nothing ticks. Small
/// enough for a client to keep it in an atomic.
class token_bucket {
public:
    static constexpr tokens default_capacity = tokens::whole(1000);

    /// Full at first.
    constexpr explicit token_bucket(tokens capacity = default_capacity) noexcept
        : level_{capacity}, capacity_{capacity}
    {
    }
    constexpr token_bucket(tokens level, tokens capacity) noexcept
        : level_{std::clamp(level, tokens{}, capacity)}, capacity_{capacity}
    {
    }

    constexpr tokens level() const noexcept { return level_; }
    constexpr tokens capacity() const noexcept { return capacity_; }

    /// The bucket after taking `amount`, or nothing if it does not hold that much.
    constexpr std::optional<token_bucket> spend(tokens amount) const noexcept
    {
        if (level_ < amount)
            return std::nullopt;
        return token_bucket{{level_.tenths - amount.tenths}, capacity_};
    }

    /// What does not fit is lost.
    constexpr token_bucket earn(tokens amount) const noexcept
    {
        // The room is compared, not the sum: no amount overflows.
        const std::int32_t room = capacity_.tenths - level_.tenths;
        return token_bucket{{level_.tenths + std::min(room, amount.tenths)}, capacity_};
    }

    friend constexpr bool operator==(const token_bucket&, const token_bucket&) = default;

private:
    tokens level_;
    tokens capacity_;
};

}  // namespace holdfast::core
