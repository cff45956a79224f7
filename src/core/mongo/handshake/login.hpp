#pragma once
#include "core/mongo/handshake/withheld_texts.hpp"
#include "core/sasl/scram.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::core::mongo {

enum class login_mechanism : std::uint8_t { scram_sha_1, scram_sha_256, x509, plain };

/// The name in connection strings and commands: "SCRAM-SHA-256".
std::string_view name_of(login_mechanism which) noexcept;
std::optional<login_mechanism> login_mechanism_named(std::string_view name) noexcept;

/// The mechanism for a user without authMechanism, by saslSupportedMechs of the hello reply:
/// SCRAM-SHA-256 if it is listed, else SCRAM-SHA-1. Never a weaker one.
login_mechanism default_mechanism(
    const std::optional<std::vector<std::string>>& supported) noexcept;

/// The mechanism whose first message goes along with the hello, if any does.
std::optional<login_mechanism> speculative_mechanism(
    std::optional<login_mechanism> chosen) noexcept;

struct login {
    login_mechanism mechanism = login_mechanism::scram_sha_256;
    std::string_view username = {};  // empty with X.509: the server takes it from the certificate
    std::string_view password = {};
    std::string_view source = {};  // the database; empty: the mechanism's own
    std::int32_t max_iterations = sasl::default_max_scram_iterations;  // of SCRAM
};

/// Where a conversation stands. A value: nothing happens but by step_login().
class login_state {
public:
    login_mechanism mechanism() const noexcept { return mechanism_; }

private:
    friend class login_conversation;

    enum class waiting_for : std::uint8_t {
        first_reply,
        keys,  // that are being computed
        final_reply,
        empty_reply,
        nothing,
    };

    login_mechanism mechanism_ = login_mechanism::scram_sha_256;
    waiting_for waiting_ = waiting_for::first_reply;
    std::string source_;
    std::optional<sasl::scram_exchange> scram_;
    std::int64_t conversation_ = 0;
    withheld_texts withheld_;  // from errors: the credential, and what was sent
};

struct login_start {
    bson::document command;  // to be sent as it is, with its database
    std::optional<bson::document> speculative = {};  // the same, to be put into a hello
    login_state state;
};

/// The first command of a conversation. `nonce` and `known` are those of sasl::scram_exchange.
result<login_start> start_login(const login& user, std::string_view nonce,
                                std::vector<sasl::scram_keys> known = {});

struct send_next {
    bson::document command;
};
struct logged_in {
    std::optional<sasl::scram_keys> keys;  // for the caller to keep: see sasl::scram_keys
};
struct compute_keys {};  // call continue_login(), and let others run before
using login_step = std::variant<send_next, logged_in, compute_keys>;

/// What to do after a reply. After an error the conversation is over.
result<login_step> step_login(login_state& state, bson::view reply);

/// The same for what a hello reply holds in `speculativeAuthenticate`: it has no `ok` of its own.
result<login_step> step_speculative(login_state& state, bson::view reply);

/// After compute_keys: computes for less than a millisecond.
result<login_step> continue_login(login_state& state);

}  // namespace holdfast::core::mongo
