#pragma once
#include "core/couchbase/handshake/sasl_login.hpp"
#include "core/couchbase/retry/kv_error_map.hpp"
#include "core/couchbase/wire/features.hpp"
#include "core/couchbase/wire/frame.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::core::couchbase {

/// What a client asks for by default. Not snappy_everywhere: only documents are compressed.
std::span<const kv_feature> default_features() noexcept;

struct config_version {
    std::int64_t epoch = 0;
    std::int64_t revision = 0;
};

struct bootstrap_options {
    std::string agent = {};            // "holdfast/0.3.0 (linux)"
    std::string connection_name = {};  // two numbers in hexadecimal: "<client>/<connection>"
    std::vector<kv_feature> features = {default_features().begin(), default_features().end()};
    kv_credential credential = {};
    /// Whether the transport is TLS. Without it nothing that is secret is ever sent.
    bool is_tls = false;
    /// The one mechanism to use. By default a password goes by PLAIN inside TLS and by the best
    /// SCRAM that the server has outside of it.
    std::optional<sasl_mechanism> mechanism = {};
    std::string bucket = {};  // empty: none is selected
    bool fetch_config = true;  // of the bucket, or of the cluster if there is none
    /// The newest that the client has: the server then sends only a newer one.
    std::optional<config_version> known_config = {};
};

/// Why a connection cannot be used.
enum class bootstrap_problem : std::uint8_t {
    authentication_failed,  // the server does not take the credential
    untrusted_server,  // the server broke SASL, or does not know the password itself
    no_common_mechanism,
    invalid_argument,  // a credential or a name that cannot be used: it was not sent
    crypto_unavailable,
    bucket_not_found,  // it is not on this node
    bucket_no_access,  // it does not exist, or the user may not use it
    refused,  // another status, which is in the failure
    protocol_violation,  // frames that no server sends
};

struct bootstrap_failure {
    bootstrap_problem problem = bootstrap_problem::protocol_violation;
    kv_opcode step = kv_opcode::hello;  // that failed
    std::optional<kv_status> status = {};  // of the server's answer to it
    error why;  // without any secret
};

struct bootstrapped {
    feature_set features = {};  // both sides have them
    std::optional<kv_error_map> error_map = {};
    std::optional<error> error_map_defect = {};  // of a map that could not be read
    /// Empty if it was not asked for, if the server has none that is newer, or if it refused: a
    /// server before 6.5 has none for the cluster as a whole.
    std::string config = {};
    std::optional<kv_status> config_status = {};
    std::optional<sasl_mechanism> mechanism = {};  // the one that authenticated the user
    std::optional<sasl::scram_keys> keys = {};  // for the caller to keep: see sasl::scram_keys
};

struct send_and_read {};  // send what was written, then read the next frame
struct read_next {};  // nothing to send
struct compute_keys {};  // call compute(), with other work in between
using bootstrap_action =
    std::variant<send_and_read, read_next, compute_keys, bootstrapped, bootstrap_failure>;

/// The first exchanges on a connection: HELLO, error map and the start of the login in one flush;
/// then the rest of the login; then, when nothing else is in flight (a server refuses to select a
/// bucket otherwise), the bucket and the configuration in one.
///
///     auto action = machine.start(out);
///     while (!ended(action)) ... action = machine.resume(frame, out);
///
/// Replies may come in any order. Requests of the server (magic 0x82) are none of its business: the
/// caller keeps them, or passes them in and nothing happens. Opaques are below first_operation.
class bootstrap {
public:
    /// Opaques from here on are never used, so that a late answer cannot be taken for that to an
    /// operation.
    static constexpr std::uint32_t first_operation = 1024;

    /// `nonce` is that of sasl::scram_exchange. A second attempt, after a server that does not know
    /// the first mechanism, may use it again: no proof was made with it.
    bootstrap(bootstrap_options options, std::string nonce);

    bootstrap_action start(bson::byte_buffer& out);
    bootstrap_action resume(const frame& reply, bson::byte_buffer& out);
    bootstrap_action compute(bson::byte_buffer& out);

private:
    struct request {
        kv_opcode opcode;
        std::uint32_t opaque;
    };

    std::vector<sasl_mechanism> allowed_mechanisms() const;
    void send(bson::byte_buffer& out, kv_opcode opcode, std::string_view key = {},
              std::span<const std::uint8_t> extras = {}, std::span<const std::uint8_t> value = {});
    void send_auth(bson::byte_buffer& out, sasl_mechanism mechanism);
    void send_last(bson::byte_buffer& out);
    bool takes(const frame& reply);
    void take(kv_opcode opcode, const frame& reply, bson::byte_buffer& out);
    void take_hello(kv_status status, std::span<const std::uint8_t> value);
    void take_error_map(kv_status status, std::span<const std::uint8_t> value);
    void take_mechanisms(kv_status status, std::string_view list, bson::byte_buffer& out);
    void take_sasl(kv_opcode opcode, kv_status status, std::string_view payload,
                   bson::byte_buffer& out);
    void take_bucket(kv_status status);
    void take_config(kv_status status, std::span<const std::uint8_t> value);
    void apply(sasl_login::step step, kv_opcode of, std::optional<kv_status> status,
               bson::byte_buffer& out);
    void try_another_mechanism(bson::byte_buffer& out);
    void fail(bootstrap_problem problem, kv_opcode step, std::optional<kv_status> status,
              error_code code, std::string message);
    void fail_login(login_failure failed, kv_opcode step, std::optional<kv_status> status);
    void violate(kv_opcode step, std::string_view what);
    bootstrap_action next(bson::byte_buffer& out, std::size_t written_before);

    bootstrap_options options_;
    std::string nonce_;
    std::uint32_t next_opaque_ = 1;
    std::vector<request> in_flight_;
    std::vector<sasl_mechanism> untried_;
    std::optional<sasl_login> login_;
    std::optional<std::string> offered_;  // the server's list of mechanisms
    std::optional<login_failure> refusal_;  // until that list is there
    std::optional<kv_status> refusal_status_;
    bool is_logged_in_ = false;
    bool is_computing_ = false;
    bool sent_last_ = false;
    bool is_over_ = false;
    feature_set agreed_;  // those asked for, until the server has answered
    bson::byte_buffer inflated_;
    bootstrapped done_;
    std::optional<bootstrap_failure> failure_;
};

}  // namespace holdfast::core::couchbase
