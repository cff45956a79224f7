#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

/// Texts of a server get into errors, events and logs, where one of 40 MB would be copied many
/// times: only so much of it is kept.
inline constexpr std::size_t max_server_text = std::size_t{16} * 1024;

/// The text, or as many whole UTF-8 characters as fit into `most` bytes, with its full length.
std::string limited_text(std::string_view text, std::size_t most = max_server_text);

/// As many labels are kept whatever they are; of those after them only labels that this library or
/// applications act on.
inline constexpr std::size_t max_unknown_labels = 64;

/// Adds the "errorLabels" of a reply, in time proportional to their number.
error with_server_labels(error to, bson::view reply);

}  // namespace holdfast::core::mongo
