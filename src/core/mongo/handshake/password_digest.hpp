#pragma once
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <string_view>

namespace holdfast::core::mongo {

/// The hexadecimal MD5 of "user:mongo:password", which SCRAM-SHA-1 uses in place of a password.
result<secret> mongo_password_digest(std::string_view username, std::string_view password);

}  // namespace holdfast::core::mongo
