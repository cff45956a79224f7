#include "lab/mongo/query/bits.hpp"

#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <limits>
#include <string>

namespace holdfast::lab::filter {

namespace {

using bson::type;

std::vector<std::uint32_t> positions_of(std::span<const std::uint8_t> bytes)
{
    std::vector<std::uint32_t> positions;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        if ((bytes[bit / 8] >> (bit % 8) & 1) != 0)
            positions.push_back(static_cast<std::uint32_t>(bit));
    }
    return positions;
}

result<std::vector<std::uint32_t>> listed_positions(const bson::element& from)
{
    std::vector<std::uint32_t> positions;
    for (const bson::element& e : from.as_array()) {
        if (!is_number(e.type()))
            return refuse(server_code::bad_value,
                          "bit positions must be an integer but got: a value that is no number");
        const auto position = whole_number(e);
        if (!position || *position > std::numeric_limits<std::int32_t>::max())
            return refuse(server_code::bad_value,
                          "bit positions cannot be represented as a 32-bit signed integer");
        if (*position < 0)
            return refuse(server_code::bad_value,
                          "bit positions must be >= 0 but got: " + std::to_string(*position));
        positions.push_back(static_cast<std::uint32_t>(*position));
    }
    return positions;
}

bool is_set(std::int64_t number, std::uint32_t position) noexcept
{
    return (number >> (position < 63 ? position : 63) & 1) != 0;
}

bool is_set(std::span<const std::uint8_t> bytes, std::uint32_t position) noexcept
{
    return position / 8 < bytes.size() && (bytes[position / 8] >> (position % 8) & 1) != 0;
}

template <class From>
bool asked_bits(const details& asked, const From& from) noexcept
{
    for (const std::uint32_t position : asked.positions) {
        const bool as_asked = is_set(from, position) == asked.bits_set;
        if (as_asked != asked.bits_all)
            return as_asked;
    }
    return asked.bits_all;
}

}  // namespace

result<std::vector<std::uint32_t>> read_positions(const bson::element& from,
                                                  std::string_view operation)
{
    if (from.type() == type::array)
        return listed_positions(from);
    if (from.type() == type::binary)
        return positions_of(from.as_binary().bytes);
    if (!is_number(from.type()))
        return refuse(server_code::bad_value,
                      std::string{operation} +
                          " takes an Array, a number, or a BinData but received "
                          "a value of another type");
    const auto mask = whole_number(from);
    if (!mask)
        return refuse(server_code::failed_to_parse,
                      "Expected an integer: " + std::string{operation});
    if (*mask < 0)
        return refuse(server_code::failed_to_parse,
                      "Expected a non-negative number in: " + std::string{operation} + ": " +
                          std::to_string(*mask));
    std::uint8_t bytes[8];
    for (int i = 0; i < 8; ++i)
        bytes[i] = static_cast<std::uint8_t>(*mask >> (8 * i));
    return positions_of(bytes);
}

bool bits_match(const details& asked, const bson::element& value) noexcept
{
    if (value.type() == type::binary)
        return asked_bits(asked, value.as_binary().bytes);
    if (!is_number(value.type()))
        return false;
    const auto number = whole_number(value);
    return number && asked_bits(asked, *number);
}

}  // namespace holdfast::lab::filter
