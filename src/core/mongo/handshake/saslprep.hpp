#pragma once
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <string_view>

namespace holdfast::core::mongo {

/// A password as SCRAM-SHA-256 wants it: SASLprep (RFC 4013) as for a stored string, so that it is
/// the same whichever way its letters were typed. An error if it has a character that is not
/// allowed; the error does not say which.
result<secret> saslprep(std::string_view password);

}  // namespace holdfast::core::mongo
