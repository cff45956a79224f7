#include "support/scripted_login.hpp"

#include "holdfast/bson/builder.hpp"
#include "support/canary.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::proof {
namespace {

using core::sasl::digest;
using core::sasl::scram_hash;

constexpr std::int32_t iterations = 4096;
constexpr std::array<std::uint8_t, 16> salt = {'s', 'e', 'a', 's', 'a', 'l', 't'};

std::string text_in(bson::view command)
{
    const bson::binary payload = command["payload"].as_binary();
    return {reinterpret_cast<const char*>(payload.bytes.data()), payload.bytes.size()};
}

bson::document saying(std::string_view text, bool done)
{
    bson::binary payload;
    payload.bytes = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    return bson::doc("conversationId", 1, "done", done, "payload", payload, "ok", 1.0);
}

bson::document refusal()
{
    return bson::doc("ok", 0.0, "code", 18, "codeName", "AuthenticationFailed", "errmsg",
                     "Authentication failed.");
}

std::string field(std::string_view text, std::string_view name)
{
    const std::size_t at = text.find(name);
    if (at == text.npos)
        return {};
    const std::string_view rest = text.substr(at + name.size());
    return std::string{rest.substr(0, rest.find(','))};
}

digest hmac(const digest& key, std::string_view text)
{
    return core::sasl::hmac(scram_hash::sha_256, key.bytes(), text).value();
}

}  // namespace

void scripted_login::guard(scripted_server& at, scripted_server::full_answer hello,
                           bool speculative)
{
    const auto self = shared_from_this();
    at.on_hello([self, hello = std::move(hello), speculative](const scripted_command& asked) {
        scripted_reply reply = hello(asked);
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        out.merge(reply.body.view());
        if (asked.body["saslSupportedMechs"])
            out.add("saslSupportedMechs", bson::arr("SCRAM-SHA-256").view());
        const bson::element start = asked.body["speculativeAuthenticate"];
        if (start && speculative) {
            ++self->speculations_;
            out.add("speculativeAuthenticate",
                    self->begin(asked.connection, start.as_document()).view());
        }
        (void)out.finish().value();
        reply.body = bson::document::adopt(std::move(bytes));
        return reply;
    });
    at.on_command("saslStart", [self](const scripted_command& asked) {
        return scripted_reply{self->begin(asked.connection, asked.body.view())};
    });
    at.on_command("saslContinue", [self](const scripted_command& asked) {
        return scripted_reply{self->finish(asked.connection, asked.body.view())};
    });
}

bson::document scripted_login::begin(std::size_t connection, bson::view start)
{
    const std::string first = text_in(start);
    if (first.size() < 3 || field(first, "n=") != canary::user)
        return ++refusals_, refusal();
    talk& t = talks_[connection];
    t.client_first = first.substr(3);
    t.server_first = "r=" + field(first, "r=") + "server,s=" + core::sasl::to_base64(salt) +
                     ",i=" + std::to_string(iterations);
    return saying(t.server_first, false);
}

bson::document scripted_login::finish(std::size_t connection, bson::view more)
{
    const std::string last = text_in(more);
    if (last.empty())
        return ++logins_, saying("", true);  // without skipEmptyExchange
    const talk& t = talks_[connection];
    const std::string bare = last.substr(0, last.find(",p="));
    const std::string text = t.client_first + "," + t.server_first + "," + bare;
    const digest salted = core::sasl::salted_password(scram_hash::sha_256, canary::password, salt,
                                                      iterations)
                              .value();
    const digest client_key = hmac(salted, "Client Key");
    const digest stored = core::sasl::hash(scram_hash::sha_256, client_key.bytes()).value();
    digest proof = hmac(stored, text);
    for (std::size_t i = 0; i < proof.bytes().size(); ++i)
        proof.bytes()[i] ^= client_key.bytes()[i];
    if (last.substr(last.find(",p=") + 3) != core::sasl::to_base64(proof.bytes()))
        return ++refusals_, refusal();
    ++logins_;
    const digest signature = hmac(hmac(salted, "Server Key"), text);
    return saying("v=" + core::sasl::to_base64(signature.bytes()), true);
}

}  // namespace holdfast::proof
