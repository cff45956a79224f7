#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::bson {

/// The element type of a binary vector (subtype 9).
enum class vector_dtype : std::uint8_t { int8 = 0x03, packed_bit = 0x10, float32 = 0x27 };

/// A dense vector of small numbers inside a binary value, read in place.
class binary_vector {
public:
    /// Checks subtype, header, padding and length.
    static result<binary_vector> parse(const binary& value);

    vector_dtype dtype() const noexcept { return dtype_; }

    /// The number of unused bits at the end of the last byte; only packed_bit has them.
    int padding() const noexcept { return padding_; }

    /// The number of int8 or float32 values, or of bits.
    std::size_t size() const noexcept;

    /// The values in their own type. Asking for another dtype than the vector has is an error.
    result<std::span<const std::int8_t>> int8_values() const;
    result<std::vector<float>> float32_values() const;
    result<std::vector<bool>> bits() const;

    /// The bytes after the header; for packed_bit the bytes that hold the bits, first bit highest.
    std::span<const std::uint8_t> data() const noexcept { return data_; }

private:
    binary_vector(vector_dtype dtype, int padding, std::span<const std::uint8_t> data) noexcept
        : data_{data}, padding_{padding}, dtype_{dtype}
    {
    }

    std::span<const std::uint8_t> data_;
    int padding_;
    vector_dtype dtype_;
};

/// The payload of a binary value of subtype 9, header included.
std::vector<std::uint8_t> encode_vector(std::span<const std::int8_t> values);
std::vector<std::uint8_t> encode_vector(std::span<const float> values);

/// Packed bits: `padding` (0 to 7) low bits of the last byte do not count and must be zero.
result<std::vector<std::uint8_t>> encode_packed_bits(std::span<const std::uint8_t> bytes,
                                                     int padding = 0);

}  // namespace holdfast::bson
