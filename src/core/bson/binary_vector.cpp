#include "holdfast/bson/binary_vector.hpp"

#include "holdfast/bson/errc.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <string>

namespace holdfast::bson {

namespace {

static_assert(std::endian::native == std::endian::little, "floats are copied as they are");
static_assert(sizeof(float) == 4);

constexpr std::size_t header_size = 2;
constexpr int max_padding = 7;

std::string_view name_of(vector_dtype dtype)
{
    switch (dtype) {
    case vector_dtype::int8: return "int8";
    case vector_dtype::packed_bit: return "packed_bit";
    case vector_dtype::float32: return "float32";
    }
    return "unknown";
}

bool is_known(vector_dtype dtype)
{
    return dtype == vector_dtype::int8 || dtype == vector_dtype::packed_bit ||
           dtype == vector_dtype::float32;
}

error invalid(std::string message)
{
    return {errc::invalid_value, std::move(message)};
}

error wrong_type(std::string_view expected, const std::string& found)
{
    std::string message = "expected ";
    message.append(expected).append(", found ").append(found);
    return error{errc::wrong_type, std::move(message)}
        .with_context("expected", std::string{expected})
        .with_context("found", found);
}

error wrong_dtype(vector_dtype expected, vector_dtype found)
{
    return wrong_type("a binary vector of " + std::string{name_of(expected)},
                      std::string{name_of(found)});
}

/// The rules for packed bits hold for what we read and for what we are asked to write.
std::optional<error> packed_bits_problem(std::span<const std::uint8_t> data, int padding)
{
    if (padding < 0 || padding > max_padding)
        return invalid("the padding of a packed_bit vector is 0 to 7, found " +
                       std::to_string(padding));
    if (data.empty() && padding != 0)
        return invalid("the padding of an empty packed_bit vector is 0, found " +
                       std::to_string(padding));
    if (!data.empty() && (data.back() & ((1 << padding) - 1)) != 0)
        return invalid("the last " + std::to_string(padding) +
                       " bits of a packed_bit vector with that padding must be zero, found the "
                       "last byte " +
                       std::to_string(data.back()));
    return std::nullopt;
}

template <class Value>
std::vector<std::uint8_t> payload(vector_dtype dtype, int padding, std::span<const Value> values)
{
    const auto* const first = reinterpret_cast<const std::uint8_t*>(values.data());
    std::vector<std::uint8_t> bytes;
    bytes.reserve(header_size + values.size_bytes());
    bytes.push_back(static_cast<std::uint8_t>(dtype));
    bytes.push_back(static_cast<std::uint8_t>(padding));
    bytes.insert(bytes.end(), first, first + values.size_bytes());
    return bytes;
}

}  // namespace

result<binary_vector> binary_vector::parse(const binary& value)
{
    if (value.subtype != binary_subtype::vector)
        return wrong_type("a binary vector (subtype 9)",
                          "subtype " + std::to_string(static_cast<unsigned>(value.subtype)));
    if (value.bytes.size() < header_size)
        return invalid("a binary vector has a header of 2 bytes, found " +
                       std::to_string(value.bytes.size()));
    const auto dtype = static_cast<vector_dtype>(value.bytes[0]);
    const int padding = value.bytes[1];
    const auto data = value.bytes.subspan(header_size);

    if (!is_known(dtype))
        return invalid(
            "the dtype of a vector is 3 (int8), 16 (packed_bit) or 39 (float32), found " +
            std::to_string(value.bytes[0]));
    if (dtype == vector_dtype::packed_bit) {
        if (auto problem = packed_bits_problem(data, padding))
            return *std::move(problem);
    } else if (padding != 0) {
        return invalid("the padding of a vector of " + std::string{name_of(dtype)} +
                       " is 0, found " + std::to_string(padding));
    }
    if (dtype == vector_dtype::float32 && data.size() % sizeof(float) != 0)
        return invalid("the data of a float32 vector is a multiple of 4 bytes, found " +
                       std::to_string(data.size()));
    return binary_vector{dtype, padding, data};
}

std::size_t binary_vector::size() const noexcept
{
    switch (dtype_) {
    case vector_dtype::int8: return data_.size();
    case vector_dtype::float32: return data_.size() / sizeof(float);
    case vector_dtype::packed_bit: return data_.size() * 8 - static_cast<std::size_t>(padding_);
    }
    return 0;
}

result<std::span<const std::int8_t>> binary_vector::int8_values() const
{
    if (dtype_ != vector_dtype::int8)
        return wrong_dtype(vector_dtype::int8, dtype_);
    return std::span{reinterpret_cast<const std::int8_t*>(data_.data()), data_.size()};
}

result<std::vector<float>> binary_vector::float32_values() const
{
    if (dtype_ != vector_dtype::float32)
        return wrong_dtype(vector_dtype::float32, dtype_);
    std::vector<float> values(size());
    if (!values.empty())
        std::memcpy(values.data(), data_.data(), data_.size());  // the bytes need not be aligned
    return values;
}

result<std::vector<bool>> binary_vector::bits() const
{
    if (dtype_ != vector_dtype::packed_bit)
        return wrong_dtype(vector_dtype::packed_bit, dtype_);
    std::vector<bool> values(size());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = (data_[i / 8] >> (7 - i % 8) & 1) != 0;
    return values;
}

std::vector<std::uint8_t> encode_vector(std::span<const std::int8_t> values)
{
    return payload(vector_dtype::int8, 0, values);
}

std::vector<std::uint8_t> encode_vector(std::span<const float> values)
{
    return payload(vector_dtype::float32, 0, values);
}

result<std::vector<std::uint8_t>> encode_packed_bits(std::span<const std::uint8_t> bytes,
                                                     int padding)
{
    if (auto problem = packed_bits_problem(bytes, padding))
        return *std::move(problem);
    return payload(vector_dtype::packed_bit, padding, bytes);
}

}  // namespace holdfast::bson
