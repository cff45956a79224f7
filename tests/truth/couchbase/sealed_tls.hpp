#pragma once
#include "runtime/tls.hpp"
#include "support/other_world.hpp"

#include <cstdint>

namespace holdfast::truth {

/// What a server shows instead of a certificate.
enum class certificate : std::uint8_t { trusted = 1, unknown_issuer = 2 };

/// TLS without a cipher, for the simulator: real handshakes have random bytes of their own, and one
/// seed would not be one history. The client asks, the server shows its certificate, and a client
/// goes on only if it trusts that.
runtime::tls_ptr make_sealed_tls(certificate shown);

/// A simulated host's world, in which that is the TLS of clients.
class sealing_world final : public proof::other_world {
public:
    explicit sealing_world(runtime::world& real) : other_world{real}, real_{real} {}

    std::shared_ptr<runtime::alarm_clock> shared_alarms() noexcept override
    {
        return real_.shared_alarms();
    }
    result<runtime::tls_ptr> tls(const runtime::tls_options&) override
    {
        return make_sealed_tls(certificate::trusted);
    }

private:
    runtime::world& real_;
};

}  // namespace holdfast::truth
