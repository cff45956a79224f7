#pragma once
#include "holdfast/error.hpp"

#include <openssl/types.h>

#include <string>

namespace holdfast::net {

class tls_engine;
enum class tls_side : std::uint8_t;

/// What broke an open TLS connection: the alert that the peer sent, by its number, or what we could
/// not read. Equal to the condition errc::connection_reset.
const boost::system::error_category& tls_category() noexcept;

/// The value of a code that is no alert: the peer sent what makes no sense.
inline constexpr int not_an_alert = 256;

/// For an error of OpenSSL's queue.
error_code tls_error_code(unsigned long of_openssl) noexcept;

/// Why a certificate chain was not accepted, and what the certificate is good for.
std::string describe_rejection(X509_STORE_CTX& chain, const std::string& host);

/// Why there is no TLS connection. `broken` is what the stream said, if it was the stream.
error handshake_error(tls_engine& engine, tls_side side, const std::string& peer,
                      error_code broken);

}  // namespace holdfast::net
