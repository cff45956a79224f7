#pragma once
#include "holdfast/error.hpp"

#include <bit>
#include <cstdint>
#include <span>

namespace holdfast::sim {

/// A stream of numbers from a seed: xoshiro256**, filled by splitmix64. The standard's own
/// distributions are left out because libraries differ in them. Each purpose has a stream of its
/// own, named by two numbers, so that one draw more in one place does not change all the others.
class random_source {
public:
    explicit random_source(std::uint64_t seed, std::uint64_t purpose = 0, std::uint64_t which = 0)
    {
        std::uint64_t from = scrambled(scrambled(seed) ^ purpose) ^ which;
        for (std::uint64_t& chunk : state_)
            chunk = scrambled(from += 0x9e3779b97f4a7c15);
    }

    std::uint64_t next() noexcept
    {
        const std::uint64_t drawn = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return drawn;
    }

    /// Uniform in [0, 1), exact: as many bits as a double holds.
    double chance() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

    /// Nothing is drawn for what is certain.
    bool happens(double probability) noexcept { return probability > 0 && chance() < probability; }

    /// Uniform, both ends included.
    duration between(duration min, duration max) noexcept
    {
        if (max <= min)
            return min;
        const auto width = static_cast<std::uint64_t>((max - min).count()) + 1;
        return min + duration{static_cast<duration::rep>(next() % width)};
    }

    void fill(std::span<std::uint8_t> into) noexcept
    {
        std::uint64_t chunk = 0;
        for (std::size_t i = 0; i < into.size(); ++i, chunk >>= 8) {
            if (i % 8 == 0)
                chunk = next();
            into[i] = static_cast<std::uint8_t>(chunk);
        }
    }

private:
    static std::uint64_t scrambled(std::uint64_t x) noexcept
    {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::uint64_t state_[4];
};

/// The purposes, and what `which` is for each.
inline constexpr std::uint64_t chance_of_links = 1;  // from and to
inline constexpr std::uint64_t chance_of_hosts = 2;  // host and incarnation
inline constexpr std::uint64_t chance_of_scripts = 3;

/// One number from two small ones.
constexpr std::uint64_t pair_of(std::size_t one, std::size_t other)
{
    return static_cast<std::uint64_t>(one) << 32 | static_cast<std::uint64_t>(other);
}

}  // namespace holdfast::sim
