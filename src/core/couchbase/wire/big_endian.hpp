#pragma once
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace holdfast::core::couchbase {

// The protocol's numbers are big-endian.

namespace details {

/// One instruction; g++ 12 does not make it of a loop over bytes.
template <std::unsigned_integral Number>
inline Number swap_bytes(Number number) noexcept
{
    if constexpr (std::endian::native == std::endian::big || sizeof(Number) == 1)
        return number;
    else if constexpr (sizeof(Number) == 2)
        return __builtin_bswap16(number);
    else if constexpr (sizeof(Number) == 4)
        return __builtin_bswap32(number);
    else
        return __builtin_bswap64(number);
}

}  // namespace details

template <std::unsigned_integral Number>
constexpr Number load_big(const std::uint8_t* from) noexcept
{
    if (!std::is_constant_evaluated()) {
        Number raw = 0;
        std::memcpy(&raw, from, sizeof(raw));
        return details::swap_bytes(raw);
    }
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        number = number << 8 | from[i];
    return static_cast<Number>(number);
}

/// Gives the place behind the number.
template <std::unsigned_integral Number>
constexpr std::uint8_t* store_big(std::uint8_t* to, Number number) noexcept
{
    if (!std::is_constant_evaluated()) {
        const Number raw = details::swap_bytes(number);
        std::memcpy(to, &raw, sizeof(raw));
        return to + sizeof(raw);
    }
    for (std::size_t i = sizeof(Number); i > 0; --i)
        *to++ = static_cast<std::uint8_t>(std::uint64_t{number} >> (8 * (i - 1)));
    return to;
}

/// Numbers from the front of foreign bytes: extras, sub-document specs. Nothing once they run out.
class big_endian_reader {
public:
    constexpr explicit big_endian_reader(std::span<const std::uint8_t> bytes) noexcept
        : rest_{bytes}
    {
    }

    template <std::unsigned_integral Number>
    constexpr std::optional<Number> take() noexcept
    {
        if (rest_.size() < sizeof(Number))
            return std::nullopt;
        const auto number = load_big<Number>(rest_.data());
        rest_ = rest_.subspan(sizeof(Number));
        return number;
    }

    constexpr std::optional<std::span<const std::uint8_t>> take_bytes(std::size_t count) noexcept
    {
        if (rest_.size() < count)
            return std::nullopt;
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }

    constexpr std::span<const std::uint8_t> rest() const noexcept { return rest_; }
    constexpr bool empty() const noexcept { return rest_.empty(); }

private:
    std::span<const std::uint8_t> rest_;
};

/// The extras of a request or a reply: a few numbers, on the stack.
///
///     kv_extras extras;
///     extras.add(flags).add(expiry);
class kv_extras {
public:
    /// What the longest of them need; the field of the frame could hold 255.
    static constexpr std::size_t capacity = 40;

    template <std::unsigned_integral Number>
    constexpr kv_extras& add(Number number) noexcept
    {
        assert(size_ + sizeof(Number) <= capacity);
        store_big(bytes_.data() + size_, number);
        size_ += sizeof(Number);
        return *this;
    }

    constexpr std::span<const std::uint8_t> bytes() const noexcept
    {
        return {bytes_.data(), size_};
    }

private:
    std::array<std::uint8_t, capacity> bytes_{};
    std::size_t size_ = 0;
};

}  // namespace holdfast::core::couchbase
