#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace holdfast::property {

/// A sequence of bytes read as decisions. RapidCheck makes and shrinks the bytes; code that holds
/// this builds something from them. When they are used up every decision is 0, which must lead to
/// an end.
class choices {
public:
    explicit choices(std::span<const std::uint8_t> bytes) noexcept : left_{bytes} {}

    bool used_up() const noexcept { return left_.empty(); }

    std::uint8_t byte() noexcept
    {
        if (left_.empty())
            return 0;
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }

    std::size_t below(std::size_t limit) noexcept
    {
        const std::size_t wide = limit > 256 ? byte() * std::size_t{256} : 0;
        return (wide + byte()) % limit;
    }

    bool one_in(std::size_t n) noexcept { return below(n) == n - 1; }

    template <class Options>
    const auto& pick(const Options& options) noexcept
    {
        return std::data(options)[below(std::size(options))];
    }

    /// 64 bits that look random, from two decisions only, so that documents stay small.
    std::uint64_t scattered() noexcept
    {
        std::uint64_t bits = (std::uint64_t{byte()} << 8 | byte()) * 0x9E3779B97F4A7C15;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
        return bits ^ (bits >> 31);
    }

private:
    std::span<const std::uint8_t> left_;
};

}  // namespace holdfast::property
