#pragma once
#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <string_view>

namespace holdfast::core::mongo {

/// Whether a reply reports success: `ok` is 1 in any numeric type, or true.
bool says_ok(bson::view reply);

/// The error for a reply that is not ok: `what` happened, with the server's number in the context
/// and the labels that we know. All text of the server's own is left out: in answer to a password
/// they might repeat it.
error server_refusal(errc code, std::string_view what, bson::view reply);

}  // namespace holdfast::core::mongo
