#pragma once
#include "choices.hpp"

#include <vector>

namespace holdfast::property {

/// Damages a document in one to four places: flipped bits, other bytes, wrong lengths, parts cut
/// out, repeated or moved. Most of the time the outermost length is put right again, so that the
/// damage inside is found and not the obvious one outside.
std::vector<std::uint8_t> mutate(std::vector<std::uint8_t> bytes, choices& c);

/// The document as the only field of another one, and so on, `levels` times.
std::vector<std::uint8_t> wrap(std::vector<std::uint8_t> bytes, std::size_t levels);

}  // namespace holdfast::property
