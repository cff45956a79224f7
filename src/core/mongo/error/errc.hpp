#pragma once
#include "holdfast/error.hpp"

#include <type_traits>

namespace holdfast::core::mongo {

/// Errors of the client itself, and of connecting to a server. The error of a command that did run
/// has the server's own code.
enum class errc {
    malformed_message = 1,  // bytes that are no wire message; context "offset" says where
    message_too_large,      // beyond the limit, in either direction
    unsupported_message,    // well formed, but of a kind or with a flag that we do not speak
    checksum_mismatch,      // bytes were changed on the way
    compression_failed,     // the payload is not what its compressor makes
    hello_failed,           // the server refused the handshake; context "code"
    invalid_metadata,       // of the application or a wrapping library
    invalid_credential,     // nothing was sent: the user name or password cannot be used
    authentication_failed,  // the server refused; context "code" if it gave one
    untrusted_server,  // the server broke the protocol, or does not know the password itself
    crypto_unavailable,  // OpenSSL refuses an algorithm, as it does in FIPS mode
    invalid_connection_string,  // what is no connection string at all; never quotes from it
    invalid_option,  // context "option" names it
    invalid_address,  // no host, or no port, that a server could have
    invalid_dns_answer,  // SRV or TXT records that must not be followed
    incompatible_server,  // some server is too old or too new for us
    command_failed,       // the server refused a command; context "code"
    no_server,            // none answered in time; context per server
    operation_timed_out,  // timeoutMS has passed
    incomplete_reply,     // the server leaves out what became of some writes
    primary_deposed,      // given up in flight, because a newer primary is known
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

}  // namespace holdfast::core::mongo

template <>
struct boost::system::is_error_code_enum<holdfast::core::mongo::errc> : std::true_type {};
