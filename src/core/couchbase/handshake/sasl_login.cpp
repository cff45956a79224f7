#include "core/couchbase/handshake/sasl_login.hpp"

#include "core/couchbase/retry/classify_kv.hpp"
#include "core/sasl/errc.hpp"
#include "holdfast/bson/validate.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

login_failure distrust_login(std::string_view why)
{
    return {login_problem::untrusted_server, "SASL: " + std::string{why}};
}

login_failure invalid_credential(std::string_view why)
{
    return {login_problem::invalid_credential, std::string{why}};
}

/// The messages of core/sasl have nothing of the password in them.
login_failure scram_failure(const error& failed)
{
    auto problem = login_problem::untrusted_server;
    if (failed.code() == sasl::errc::invalid_credential)
        problem = login_problem::invalid_credential;
    else if (failed.code() == sasl::errc::authentication_failed)
        problem = login_problem::refused;
    else if (failed.code() == sasl::errc::crypto_unavailable)
        problem = login_problem::crypto_unavailable;
    return {problem, failed.message()};
}

/// Whether text can stand in a message whose parts end with a zero byte.
bool is_plain_text(std::string_view text)
{
    return !text.empty() && text.find('\0') == text.npos && bson::is_utf8(text);
}

/// RFC 6750: letters, digits and a few signs.
bool is_token(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

std::variant<secret, login_failure> plain_message(const password_credential& credential)
{
    if (!is_plain_text(credential.user) || !is_plain_text(credential.password.view()))
        return invalid_credential(
            "PLAIN needs a user name and a password that are UTF-8, not "
            "empty and without a zero byte");
    constexpr std::string_view zero{"\0", 1};
    return secret{zero, credential.user, zero, credential.password.view()};
}

/// RFC 7628, without a user: the token names it.
std::variant<secret, login_failure> bearer_message(const token_credential& credential)
{
    if (!is_token(credential.jwt.view()))
        return invalid_credential("OAUTHBEARER needs a token of printable characters");
    return secret{
        "n,,\x01"
        "auth=Bearer ",
        credential.jwt.view(), "\x01\x01"};
}

login_failure refused_login(sasl_mechanism by, kv_status status)
{
    const std::string server_says = "the server refused to authenticate the user by " +
                                    std::string{name_of(by)};
    const classification meant = classify_kv(kv_opcode::sasl_auth, status);
    const bool decided = status == kv_status::auth_error || status == kv_status::auth_stale ||
                         status == kv_status::no_access;
    if (decided)
        return {login_problem::refused, server_says + " (" + meant.message + ")"};
    return {login_problem::other_status,
            "authentication by " + std::string{name_of(by)} + " failed: " + meant.message};
}

}  // namespace

std::variant<sasl_login::started, login_failure> sasl_login::start(sasl_mechanism mechanism,
                                                                   const kv_credential& credential,
                                                                   std::string_view nonce)
{
    started begun;
    begun.login.mechanism_ = mechanism;
    const auto* const password = std::get_if<password_credential>(&credential);
    const auto* const token = std::get_if<token_credential>(&credential);
    const auto hash = hash_of(mechanism);
    if (hash && password) {
        auto scram = sasl::scram_exchange::start(*hash, password->user, password->password, nonce,
                                                 password->known, password->max_iterations);
        if (!scram)
            return scram_failure(scram.error());
        begun.login.scram_ = *std::move(scram);
        begun.payload = secret{begun.login.scram_->first_message()};
        return begun;
    }
    auto message = std::variant<secret, login_failure>{
        invalid_credential("the credential does not fit " + std::string{name_of(mechanism)})};
    if (mechanism == sasl_mechanism::plain && password)
        message = plain_message(*password);
    else if (mechanism == sasl_mechanism::oauthbearer && token)
        message = bearer_message(*token);
    if (auto* const failed = std::get_if<login_failure>(&message))
        return std::move(*failed);
    begun.payload = std::move(std::get<secret>(message));
    return begun;
}

sasl_login::step sasl_login::resume(kv_status status, std::string_view payload)
{
    // Whatever goes wrong below, there is no next step.
    const waiting_for waiting = std::exchange(waiting_, waiting_for::nothing);
    if (waiting != waiting_for::first_reply && waiting != waiting_for::final_reply)
        return distrust_login("a reply to nothing");
    if (status != kv_status::success && status != kv_status::auth_continue)
        return refused_login(mechanism_, status);
    const bool goes_on = status == kv_status::auth_continue;
    if (!scram_) {
        if (goes_on && mechanism_ == sasl_mechanism::oauthbearer)  // RFC 7628: the reason follows
            return refused_login(mechanism_, kv_status::auth_error);
        if (goes_on)
            return distrust_login("the server wants more than PLAIN has to say");
        return done{};
    }
    if (waiting == waiting_for::first_reply) {
        if (!goes_on)
            return distrust_login(
                "the server accepts the user without proving that it knows the "
                "password itself");
        if (const auto taken = scram_->receive(payload); !taken)
            return scram_failure(taken.error());
        return answer_scram();
    }
    if (goes_on)
        return distrust_login("the server does not come to an end");
    if (const auto proven = scram_->check(payload); !proven)
        return scram_failure(proven.error());
    return done{};
}

sasl_login::step sasl_login::compute()
{
    const waiting_for waiting = std::exchange(waiting_, waiting_for::nothing);
    if (waiting != waiting_for::keys)
        return distrust_login("there are no keys to compute");
    if (const auto computed = scram_->compute_slice(); !computed)
        return scram_failure(computed.error());
    return answer_scram();
}

sasl_login::step sasl_login::answer_scram()
{
    if (!scram_->has_keys()) {
        waiting_ = waiting_for::keys;
        return compute_keys{};
    }
    auto answer = scram_->final_message();
    if (!answer)
        return scram_failure(answer.error());
    waiting_ = waiting_for::final_reply;
    return send_step{*std::move(answer)};
}

}  // namespace holdfast::core::couchbase
