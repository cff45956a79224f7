// The login's part of a bootstrap.
#include "core/couchbase/handshake/bootstrap.hpp"
#include "core/couchbase/retry/classify_kv.hpp"

#include <utility>

namespace holdfast::core::couchbase {

namespace {

std::string joined(std::span<const sasl_mechanism> mechanisms)
{
    std::string names;
    for (const sasl_mechanism which : mechanisms)
        names.append(names.empty() ? "" : ", ").append(name_of(which));
    return names;
}

/// A server's list for people. Text of the server's own is not shown: it may hold anything.
std::string shown(std::string_view list)
{
    using enum sasl_mechanism;
    std::vector<sasl_mechanism> known;
    for (const sasl_mechanism which :
         {scram_sha512, scram_sha256, scram_sha1, plain, oauthbearer}) {
        if (offers(list, which))
            known.push_back(which);
    }
    return known.empty() ? "nothing that this client knows" : joined(known);
}

}  // namespace

std::vector<sasl_mechanism> bootstrap::allowed_mechanisms() const
{
    using enum sasl_mechanism;
    if (options_.mechanism)
        return {*options_.mechanism};
    if (std::holds_alternative<token_credential>(options_.credential))
        return {oauthbearer};
    if (options_.is_tls)
        return {plain, scram_sha512, scram_sha256, scram_sha1};
    return {scram_sha512, scram_sha256, scram_sha1};
}

void bootstrap::send_auth(bson::byte_buffer& out, sasl_mechanism mechanism)
{
    std::erase(untried_, mechanism);
    auto started = sasl_login::start(mechanism, options_.credential, nonce_);
    if (auto* const failed = std::get_if<login_failure>(&started)) {
        fail_login(std::move(*failed), kv_opcode::sasl_auth, {});
        return;
    }
    auto& [login, payload] = std::get<sasl_login::started>(started);
    send(out, kv_opcode::sasl_auth, name_of(mechanism), {}, as_octets(payload.view()));
    login_ = std::move(login);
}

void bootstrap::take_mechanisms(kv_status status, std::string_view list, bson::byte_buffer& out)
{
    offered_ = status == kv_status::success ? std::string{list} : std::string{};
    if (refusal_)
        try_another_mechanism(out);
}

void bootstrap::take_sasl(kv_opcode opcode, kv_status status, std::string_view payload,
                          bson::byte_buffer& out)
{
    auto step = login_->resume(status, payload);
    auto* const failed = std::get_if<login_failure>(&step);
    // Servers answer alike to a wrong password and to a mechanism that they do not know; the list
    // shows which it is.
    const bool may_be_unknown = failed && opcode == kv_opcode::sasl_auth &&
                                (failed->problem == login_problem::refused ||
                                 failed->problem == login_problem::other_status);
    if (!may_be_unknown) {
        apply(std::move(step), opcode, status, out);
        return;
    }
    refusal_ = std::move(*failed);
    refusal_status_ = status;
    if (offered_)
        try_another_mechanism(out);
}

void bootstrap::try_another_mechanism(bson::byte_buffer& out)
{
    login_failure refusal = *std::exchange(refusal_, std::nullopt);
    const sasl_mechanism tried = login_->mechanism();
    if (offered_->empty() || offers(*offered_, tried)) {
        fail_login(std::move(refusal), kv_opcode::sasl_auth, refusal_status_);
        return;
    }
    const auto other = choose_mechanism(untried_, *offered_);
    if (other) {
        send_auth(out, *other);
        return;
    }
    fail(bootstrap_problem::no_common_mechanism, kv_opcode::sasl_auth, refusal_status_,
         errc::authentication_failure,
         "the server authenticates by " + shown(*offered_) + ", and this client may use " +
             joined(allowed_mechanisms()) +
             (options_.is_tls ? "" : " (PLAIN and OAUTHBEARER inside TLS only)"));
}

void bootstrap::apply(sasl_login::step step, kv_opcode of, std::optional<kv_status> status,
                      bson::byte_buffer& out)
{
    if (auto* const failed = std::get_if<login_failure>(&step)) {
        fail_login(std::move(*failed), of, status);
    } else if (const auto* const next_step = std::get_if<sasl_login::send_step>(&step)) {
        send(out, kv_opcode::sasl_step, name_of(login_->mechanism()), {},
             as_octets(next_step->payload));
    } else if (std::holds_alternative<sasl_login::compute_keys>(step)) {
        is_computing_ = true;
    } else {
        is_logged_in_ = true;
        done_.mechanism = login_->mechanism();
        if (const sasl::scram_keys* const keys = login_->keys())
            done_.keys = *keys;
        options_.credential = {};
    }
}

void bootstrap::fail_login(login_failure failed, kv_opcode step, std::optional<kv_status> status)
{
    auto problem = bootstrap_problem::authentication_failed;
    error_code code = errc::authentication_failure;
    switch (failed.problem) {
    case login_problem::refused:
        break;
    case login_problem::untrusted_server:
        problem = bootstrap_problem::untrusted_server;
        break;
    case login_problem::invalid_credential:
        problem = bootstrap_problem::invalid_argument;
        code = errc::invalid_argument;
        break;
    case login_problem::crypto_unavailable:
        problem = bootstrap_problem::crypto_unavailable;
        code = errc::feature_not_available;
        break;
    case login_problem::other_status:
        problem = bootstrap_problem::refused;
        code = classify_kv(step, status.value_or(kv_status::internal)).code;
        break;
    }
    fail(problem, step, status, code, std::move(failed.message));
}

}  // namespace holdfast::core::couchbase
