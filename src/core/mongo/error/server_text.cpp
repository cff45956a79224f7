#include "core/mongo/error/server_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::core::mongo {
namespace {

/// Longer than any label of a server.
constexpr std::size_t max_label_text = 256;

/// The labels of the drivers' specifications.
constexpr std::array labels_acted_on = std::to_array<std::string_view>(
    {"RetryableWriteError", "NoWritesPerformed", "SystemOverloadedError", "RetryableError",
     "TransientTransactionError", "UnknownTransactionCommitResult", "ResumableChangeStreamError"});

bool continues_character(char c) noexcept
{
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

}  // namespace

std::string limited_text(std::string_view text, std::size_t most)
{
    if (text.size() <= most)
        return std::string{text};
    constexpr std::size_t longest_character = 4;
    std::size_t end = most;
    while (end > 0 && most - end < longest_character && continues_character(text[end]))
        --end;
    std::string kept{text.substr(0, end)};
    kept += "... (cut, " + std::to_string(text.size()) + " bytes in all)";
    return kept;
}

error with_server_labels(error to, bson::view reply)
{
    const bson::element labels = reply.find("errorLabels");
    if (labels.type() != bson::type::array)
        return to;
    std::size_t seen = 0;
    for (const bson::element& label : labels.as_array()) {
        if (label.type() != bson::type::string)
            continue;
        const std::string_view name = label.as_string();
        const bool acted_on = std::ranges::find(labels_acted_on, name) != labels_acted_on.end();
        if (acted_on || seen < max_unknown_labels)
            to = std::move(to).with_label(name.substr(0, max_label_text));
        ++seen;
    }
    return to;
}

}  // namespace holdfast::core::mongo
