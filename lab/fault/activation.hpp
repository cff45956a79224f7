#pragma once
#include <cstdint>

namespace holdfast::lab {

/// When a planned fault happens: which of the requests that it has chosen it hits.
class activation {
public:
    activation() = default;  // never
    static activation always() noexcept { return activation{kind::always, 0, 0}; }
    /// The first `count`.
    static activation times(std::int64_t count) noexcept;
    /// All but the first `count`.
    static activation after(std::int64_t count) noexcept { return {kind::after, count, 0}; }
    /// Each with this probability.
    static activation with_probability(double p) noexcept { return {kind::probability, 0, p}; }

    bool active() const noexcept { return kind_ != kind::never; }
    /// Counts a chosen request, and decides whether it is hit; `chance` in [0, 1).
    bool hits(double chance) noexcept;

private:
    enum class kind : std::uint8_t { never, always, times, after, probability };

    activation(kind what, std::int64_t count, double probability) noexcept
        : kind_{what}, count_{count}, probability_{probability}
    {
    }

    kind kind_ = kind::never;
    std::int64_t count_ = 0;
    double probability_ = 0;
};

}  // namespace holdfast::lab
