#pragma once
#include "core/mongo/error/errc.hpp"
#include "core/mongo/handshake/withheld_texts.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::core::mongo {

/// Whether a reply reports success: `ok` is 1 in any numeric type, or true.
bool says_ok(bson::view reply);

/// The error for a reply that is not ok: `what` happened, with the server's number in the context
/// and the labels that we know. The server's own text and the name of its code, too, unless they
/// quote something that is `withheld`; without knowing what that is, no text of the server's.
error server_refusal(errc code, std::string_view what, bson::view reply,
                     const withheld_texts* withheld = nullptr);

/// The server's number in such an error; none if it gave none, or the error is another one.
std::optional<std::int32_t> refusal_code(const error& why) noexcept;

}  // namespace holdfast::core::mongo
