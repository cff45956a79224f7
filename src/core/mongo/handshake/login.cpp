#include "core/mongo/handshake/login.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/handshake/password_digest.hpp"
#include "core/mongo/handshake/saslprep.hpp"
#include "core/mongo/handshake/server_refusal.hpp"
#include "core/sasl/errc.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/validate.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::core::mongo {

namespace {

constexpr std::array all_mechanisms = {login_mechanism::scram_sha_1, login_mechanism::scram_sha_256,
                                       login_mechanism::x509, login_mechanism::plain};

std::string_view default_source(login_mechanism which)
{
    switch (which) {
    case login_mechanism::scram_sha_1:
    case login_mechanism::scram_sha_256:
        return "admin";
    case login_mechanism::x509:
    case login_mechanism::plain:
        return "$external";
    }
    return "admin";
}

bson::binary as_binary(std::string_view text)
{
    return {{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
            bson::binary_subtype::generic};
}

/// The database goes under "$db" in a command, and under "db" in a hello.
bson::document sasl_start(const login& user, std::string_view payload, std::string_view db_key,
                          std::string_view source)
{
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        out.add("saslStart", 1).add("mechanism", name_of(user.mechanism));
        out.add("payload", as_binary(payload));
        if (user.mechanism != login_mechanism::plain)
            out.document("options").add("skipEmptyExchange", true);
        out.add(db_key, source);
    }
    return bson::document::adopt(std::move(bytes));
}

bson::document x509_command(const login& user, std::string_view db_key, std::string_view source)
{
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        out.add("authenticate", 1).add("mechanism", name_of(user.mechanism));
        if (!user.username.empty())
            out.add("user", user.username);
        out.add(db_key, source);
    }
    return bson::document::adopt(std::move(bytes));
}

/// The exchange's failure under MongoDB's code.
error login_error(const error& failed)
{
    auto code = errc::untrusted_server;
    if (failed.code() == sasl::errc::invalid_credential)
        code = errc::invalid_credential;
    else if (failed.code() == sasl::errc::authentication_failed)
        code = errc::authentication_failed;
    else if (failed.code() == sasl::errc::crypto_unavailable)
        code = errc::crypto_unavailable;
    return error{code, failed.message()};
}

result<secret> plain_payload(const login& user)
{
    for (const std::string_view text : {user.username, user.password}) {
        if (text.empty() || text.find('\0') != text.npos || !bson::is_utf8(text))
            return error{errc::invalid_credential,
                         "PLAIN needs a user name and a password that are UTF-8, not empty and "
                         "without a zero byte"};
    }
    constexpr std::string_view zero{"\0", 1};
    return secret{zero, user.username, zero, user.password};
}

result<sasl::scram_exchange> start_scram(const login& user, std::string_view nonce,
                                         std::vector<sasl::scram_keys> known,
                                         withheld_texts& withheld)
{
    // SCRAM-SHA-1 hides an empty password behind its digest, so it is looked for here.
    if (user.password.empty())
        return error{errc::invalid_credential, "the password is empty"};
    const bool sha_1 = user.mechanism == login_mechanism::scram_sha_1;
    auto password = sha_1 ? mongo_password_digest(user.username, user.password)
                          : saslprep(user.password);
    if (!password)
        return std::move(password).error();
    withheld.add(password->view());
    auto started = sasl::scram_exchange::start(
        sha_1 ? sasl::scram_hash::sha_1 : sasl::scram_hash::sha_256, user.username,
        *std::move(password), nonce, std::move(known), user.max_iterations);
    if (!started)
        return login_error(started.error());
    return started;
}

error distrust(std::string_view why)
{
    return error{errc::untrusted_server, "authentication: " + std::string{why}};
}

/// The answer to saslStart or saslContinue.
struct sasl_reply {
    std::int64_t conversation;
    bool done;
    std::string_view payload;
};

result<sasl_reply> parse_sasl(bson::view reply)
{
    const auto conversation = reply.find("conversationId").get<std::int64_t>();
    const auto done = reply.find("done").get<bool>();
    const auto payload = reply.find("payload").get<bson::binary>();
    if (!conversation || !done || !payload)
        return distrust("the server's reply lacks a conversationId, done or payload");
    const auto bytes = payload->bytes;
    return sasl_reply{
        *conversation, *done, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

}  // namespace

/// The steps of each mechanism, with the state open before them.
class login_conversation {
public:
    explicit login_conversation(login_state& state) noexcept : state_{state} {}

    static result<login_start> start(const login& user, std::string_view nonce,
                                     std::vector<sasl::scram_keys> known)
    {
        login_start begun;
        login_state& state = begun.state;
        state.mechanism_ = user.mechanism;
        state.source_ = user.source.empty() ? default_source(user.mechanism) : user.source;
        state.withheld_.add(user.username);
        state.withheld_.add(user.password);
        switch (user.mechanism) {
        case login_mechanism::scram_sha_1:
        case login_mechanism::scram_sha_256: {
            auto scram = start_scram(user, nonce, std::move(known), state.withheld_);
            if (!scram)
                return std::move(scram).error();
            state.scram_ = *std::move(scram);
            const std::string first = state.scram_->first_message();
            state.withheld_.add(first);
            begun.command = sasl_start(user, first, "$db", state.source_);
            begun.speculative = sasl_start(user, first, "db", state.source_);
            break;
        }
        case login_mechanism::x509:
            begun.command = x509_command(user, "$db", state.source_);
            begun.speculative = x509_command(user, "db", state.source_);
            break;
        case login_mechanism::plain: {
            const auto payload = plain_payload(user);
            if (!payload)
                return payload.error();
            state.withheld_.add(payload->view());
            begun.command = sasl_start(user, payload->view(), "$db", state.source_);
            break;
        }
        }
        return begun;
    }

    result<login_step> step(bson::view reply, bool has_ok)
    {
        // Whatever goes wrong below, there is no next step.
        const auto waiting = std::exchange(state_.waiting_, login_state::waiting_for::nothing);
        if (waiting == login_state::waiting_for::nothing ||
            waiting == login_state::waiting_for::keys)
            return distrust("this conversation is over");
        // The defect is not named, since its description may quote the server.
        if (!bson::validate(reply.bytes()))
            return distrust("the server's reply is not valid BSON");
        if (has_ok && !says_ok(reply))
            return server_refusal(errc::authentication_failed,
                                  "the server refused to authenticate the user by " +
                                      std::string{name_of(state_.mechanism_)} + ", authSource " +
                                      state_.source_,
                                  reply, &state_.withheld_);
        switch (state_.mechanism_) {
        case login_mechanism::scram_sha_1:
        case login_mechanism::scram_sha_256:
            return step_scram(reply, waiting);
        case login_mechanism::plain:
            return step_plain(reply);
        case login_mechanism::x509:
            return login_step{logged_in{}};
        }
        return distrust("unknown mechanism");
    }

    result<login_step> compute()
    {
        const auto waiting = std::exchange(state_.waiting_, login_state::waiting_for::nothing);
        if (waiting != login_state::waiting_for::keys)
            return distrust("there are no keys to compute");
        if (const auto computed = state_.scram_->compute_slice(); !computed)
            return login_error(computed.error());
        return answer_scram();
    }

private:
    result<login_step> step_scram(bson::view reply, login_state::waiting_for waiting)
    {
        using enum login_state::waiting_for;
        const auto sasl = parse_sasl(reply);
        if (!sasl)
            return sasl.error();
        if (waiting == first_reply)
            state_.conversation_ = sasl->conversation;
        else if (sasl->conversation != state_.conversation_)
            return distrust("the server answers in another conversation");

        switch (waiting) {
        case first_reply: {
            if (sasl->done)
                return distrust("the server ends the conversation without a proof");
            if (const auto taken = state_.scram_->receive(sasl->payload); !taken)
                return login_error(taken.error());
            return answer_scram();
        }
        case final_reply:
            if (const auto proven = state_.scram_->check(sasl->payload); !proven)
                return login_error(proven.error());
            // A server that does not know skipEmptyExchange wants one more, with nothing in it.
            if (!sasl->done)
                return go_on({}, empty_reply);
            break;
        case empty_reply:
            if (!sasl->done)
                return distrust("the server does not come to an end");
            break;
        case keys:
        case nothing:
            break;
        }
        return login_step{logged_in{state_.scram_->keys()}};
    }

    result<login_step> answer_scram()
    {
        if (!state_.scram_->has_keys()) {
            state_.waiting_ = login_state::waiting_for::keys;
            return login_step{compute_keys{}};
        }
        const auto answer = state_.scram_->final_message();
        if (!answer)
            return login_error(answer.error());
        return go_on(*answer, login_state::waiting_for::final_reply);
    }

    static result<login_step> step_plain(bson::view reply)
    {
        const auto sasl = parse_sasl(reply);
        if (!sasl)
            return sasl.error();
        if (!sasl->done)
            return distrust("the server wants more than PLAIN has to say");
        return login_step{logged_in{}};
    }

    login_step go_on(std::string_view payload, login_state::waiting_for next)
    {
        state_.withheld_.add(payload);
        bson::byte_buffer bytes;
        {
            bson::builder out{bytes};
            out.add("saslContinue", 1);
            if (std::in_range<std::int32_t>(state_.conversation_))
                out.add("conversationId", static_cast<std::int32_t>(state_.conversation_));
            else
                out.add("conversationId", state_.conversation_);
            out.add("payload", as_binary(payload)).add("$db", state_.source_);
        }
        state_.waiting_ = next;
        return send_next{bson::document::adopt(std::move(bytes))};
    }

    login_state& state_;
};

std::string_view name_of(login_mechanism which) noexcept
{
    switch (which) {
    case login_mechanism::scram_sha_1:
        return "SCRAM-SHA-1";
    case login_mechanism::scram_sha_256:
        return "SCRAM-SHA-256";
    case login_mechanism::x509:
        return "MONGODB-X509";
    case login_mechanism::plain:
        return "PLAIN";
    }
    return "unknown";
}

std::optional<login_mechanism> login_mechanism_named(std::string_view name) noexcept
{
    const auto* const found = std::ranges::find_if(
        all_mechanisms, [&](login_mechanism which) { return name_of(which) == name; });
    return found == all_mechanisms.end() ? std::nullopt : std::optional{*found};
}

login_mechanism default_mechanism(const std::optional<std::vector<std::string>>& supported) noexcept
{
    const auto best = login_mechanism::scram_sha_256;
    const bool has_best = supported &&
                          std::ranges::find(*supported, name_of(best)) != supported->end();
    return has_best ? best : login_mechanism::scram_sha_1;
}

std::optional<login_mechanism> speculative_mechanism(std::optional<login_mechanism> chosen) noexcept
{
    if (chosen == login_mechanism::plain)
        return std::nullopt;  // PLAIN sends the password itself: only on demand
    return chosen.value_or(login_mechanism::scram_sha_256);
}

result<login_start> start_login(const login& user, std::string_view nonce,
                                std::vector<sasl::scram_keys> known)
{
    return login_conversation::start(user, nonce, std::move(known));
}

result<login_step> step_login(login_state& state, bson::view reply)
{
    return login_conversation{state}.step(reply, true);
}

result<login_step> step_speculative(login_state& state, bson::view reply)
{
    return login_conversation{state}.step(reply, false);
}

result<login_step> continue_login(login_state& state)
{
    return login_conversation{state}.compute();
}

}  // namespace holdfast::core::mongo
