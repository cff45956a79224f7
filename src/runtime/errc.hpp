#pragma once
#include "holdfast/error.hpp"

#include <type_traits>

namespace holdfast::runtime {

/// Why there is no connection. What breaks an open connection is said by the system's own codes:
/// see stream.hpp.
enum class errc {
    name_not_found = 1,   // the name server knows of no such host; asking again will not help
    name_lookup_failed,   // no answer, or none that makes sense
    connect_failed,       // refused, unreachable, reset; context "cause"
    connect_timed_out,    // the deadline came first; context "phase" says how far we were
    tls_failed,           // the peers do not agree on TLS, or the connection broke meanwhile
    certificate_rejected, // the peer is not who it should be; context "cause"
    invalid_tls_options,  // nothing was sent: a file is missing or is not what it should be
    listen_failed,
    cancelled,
    not_available,        // this world has no such thing
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

/// How far an attempt to connect came; the context "phase" of its error.
inline constexpr const char* phase_resolve = "resolve";
inline constexpr const char* phase_connect = "connect";
inline constexpr const char* phase_tls = "tls";

/// The context "handshake" of errc::tls_failed, if it was the connection that went: as far as TLS
/// came, nothing was wrong.
inline constexpr const char* handshake_broke_off = "broke off";

/// The context "issuer" of errc::certificate_rejected, if no trusted CA has signed the certificate.
inline constexpr const char* issuer_unknown = "unknown";

}  // namespace holdfast::runtime

template <>
struct boost::system::is_error_code_enum<holdfast::runtime::errc> : std::true_type {};
