#pragma once
#include "lab/mongo/query/node.hpp"

namespace holdfast::lab::filter {

/// The operand of $bitsAllSet and its kin: a mask, a binary value, or an array of positions.
result<std::vector<std::uint32_t>> read_positions(const bson::element& from,
                                                  std::string_view operation);

/// Numbers are taken as 64 bits in two's complement, whose sign goes on for ever.
bool bits_match(const details& asked, const bson::element& value) noexcept;

}  // namespace holdfast::lab::filter
