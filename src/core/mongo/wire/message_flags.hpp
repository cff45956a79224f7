#pragma once
#include <cstdint>

namespace holdfast::core::mongo {

/// The kinds of sections in an OP_MSG.
inline constexpr std::uint8_t body_section = 0;
inline constexpr std::uint8_t sequence_section = 1;

/// The flags of an OP_MSG that are in use.
struct message_flags {
    bool checksum_present = false;
    bool more_to_come = false;     // no answer is expected, or another message follows this one
    bool exhaust_allowed = false;  // the server may answer with more than one message
    friend constexpr bool operator==(const message_flags&, const message_flags&) = default;

    static constexpr std::uint32_t checksum_present_bit = 1U << 0;
    static constexpr std::uint32_t more_to_come_bit = 1U << 1;
    static constexpr std::uint32_t exhaust_allowed_bit = 1U << 16;

    /// Of these, one that is unknown changes the meaning of the message; the others may be ignored.
    static constexpr std::uint32_t required_bits = 0xFFFF;

    constexpr std::uint32_t bits() const noexcept
    {
        return (checksum_present ? checksum_present_bit : 0) |
               (more_to_come ? more_to_come_bit : 0) | (exhaust_allowed ? exhaust_allowed_bit : 0);
    }

    static constexpr message_flags from_bits(std::uint32_t bits) noexcept
    {
        return {.checksum_present = (bits & checksum_present_bit) != 0,
                .more_to_come = (bits & more_to_come_bit) != 0,
                .exhaust_allowed = (bits & exhaust_allowed_bit) != 0};
    }

    static constexpr std::uint32_t unknown_required_bits(std::uint32_t bits) noexcept
    {
        return bits & required_bits & ~(checksum_present_bit | more_to_come_bit);
    }
};

}  // namespace holdfast::core::mongo
