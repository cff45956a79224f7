#pragma once
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"
#include "runtime/errc.hpp"
#include "runtime/stream.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::runtime {

/// The settings of TLS, for one client or server. Files are in PEM.
struct tls_options {
    // The CAs to be trusted. Neither: those that the system trusts.
    std::optional<std::string> ca_file = {};
    std::optional<std::string> ca_text = {};
    bool with_system_cas = false;  // them as well
    std::optional<std::string> certificate_key_file = {};  // certificate and key, for either side
    std::optional<secret> certificate_key_password = {};
    bool verify_peer = true;  // false only if the user has asked for it
    bool verify_hostname = true;  // likewise; without verify_peer it means nothing
};

/// TLS with one set of options, over any stream. Thread-safe; remembers sessions, so that a second
/// connection to the same server needs fewer round trips.
class tls_layer {
public:
    virtual ~tls_layer() = default;

    /// The client's handshake: `host` is the name that the certificate must have, and is sent to
    /// the server (SNI) unless it is an address. The deadline is the stream's own. On an error the
    /// stream is closed; it says errc::certificate_rejected or errc::tls_failed, and the cause.
    virtual awaitable<result<stream_ptr>> connect(stream_ptr over, std::string host) = 0;

    /// The server's side.
    virtual awaitable<result<stream_ptr>> accept(stream_ptr over) = 0;
};

using tls_ptr = std::shared_ptr<tls_layer>;

/// Whether it was TLS that broke an open connection: an alert of the peer's, or bytes that are no
/// TLS. With TLS 1.3 a client learns only after its handshake that its certificate is rejected.
inline bool is_broken_by_tls(const error_code& why) noexcept
{
    return why == boost::system::error_condition{static_cast<int>(errc::tls_failed), category()};
}

}  // namespace holdfast::runtime
