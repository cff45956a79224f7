#pragma once
#include "holdfast/error.hpp"

#include <type_traits>

namespace holdfast::core::sasl {

/// Failures of an authentication exchange. Each protocol reports them under codes of its own.
enum class errc {
    invalid_credential = 1,  // nothing was sent: the user name or password cannot be used
    authentication_failed,   // the server refused
    untrusted_server,    // the server broke the protocol, or does not know the password itself
    crypto_unavailable,  // OpenSSL refuses an algorithm, as it does in FIPS mode
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

}  // namespace holdfast::core::sasl

template <>
struct boost::system::is_error_code_enum<holdfast::core::sasl::errc> : std::true_type {};
