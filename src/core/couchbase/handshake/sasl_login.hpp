#pragma once
#include "core/couchbase/handshake/mechanism.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"
#include "core/sasl/scram.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::core::couchbase {

/// The server takes the user from a certificate, or has been asked by other means: no SASL.
struct certificate_credential {};

struct password_credential {
    std::string user = {};
    secret password = {};
    std::vector<sasl::scram_keys> known = {};  // of this password, from earlier logins
    std::int32_t max_iterations = sasl::default_max_scram_iterations;
};

struct token_credential {
    secret jwt = {};
};

using kv_credential = std::variant<certificate_credential, password_credential, token_credential>;

/// Why a login ended without a user.
enum class login_problem : std::uint8_t {
    refused,            // the server does not take the credential
    untrusted_server,   // the server broke the protocol, or does not know the password itself
    invalid_credential, // nothing was sent
    crypto_unavailable, // OpenSSL refuses an algorithm, as it does in FIPS mode
    other_status,       // the server could not decide: it is busy, say
};

struct login_failure {
    login_problem problem;
    std::string message;  // has no secret in it
};

/// One SASL conversation, without the frames around it.
class sasl_login {
public:
    struct started;
    /// `nonce` is that of sasl::scram_exchange, and only SCRAM uses it.
    static std::variant<started, login_failure> start(sasl_mechanism mechanism,
                                                      const kv_credential& credential,
                                                      std::string_view nonce);

    struct send_step {
        std::string payload;
    };
    struct compute_keys {};  // call compute(), with other work in between
    struct done {};
    using step = std::variant<send_step, compute_keys, done, login_failure>;

    /// What to do after the reply to SASL_AUTH or SASL_STEP. SCRAM ends with a proof of the
    /// server's, or it ends badly.
    step resume(kv_status status, std::string_view payload);
    /// After compute_keys: computes for less than a millisecond.
    step compute();

    sasl_mechanism mechanism() const noexcept { return mechanism_; }
    /// Once a login by SCRAM is done.
    const sasl::scram_keys* keys() const noexcept { return scram_ ? &scram_->keys() : nullptr; }

private:
    enum class waiting_for : std::uint8_t { first_reply, keys, final_reply, nothing };

    step answer_scram();

    sasl_mechanism mechanism_ = sasl_mechanism::scram_sha512;
    waiting_for waiting_ = waiting_for::first_reply;
    std::optional<sasl::scram_exchange> scram_;
};

struct sasl_login::started {
    sasl_login login;
    secret payload;  // of SASL_AUTH
};

}  // namespace holdfast::core::couchbase
