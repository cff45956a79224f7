#include "core/sasl/scram.hpp"

#include "core/bson/base64.hpp"
#include "core/sasl/errc.hpp"
#include "holdfast/bson/validate.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::core::sasl {

namespace {

constexpr std::size_t max_server_message = 4096;
constexpr std::string_view no_channel_binding = "c=biws";  // base64 of "n,,"

error distrust(std::string_view why)
{
    return error{errc::untrusted_server, "SCRAM: " + std::string{why}};
}

bool is_nonce(std::string_view text)
{
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~' && c != ','; });
}

std::string escaped(std::string_view username)
{
    std::string name;
    for (const char c : username) {
        if (c == ',')
            name += "=2C";
        else if (c == '=')
            name += "=3D";
        else
            name += c;
    }
    return name;
}

/// Takes the next attribute off the front of a message: "r=..." gives its value.
std::optional<std::string_view> take(std::string_view& message, char name)
{
    if (message.size() < 2 || message[0] != name || message[1] != '=')
        return std::nullopt;
    const std::size_t comma = message.find(',');
    const std::string_view value = message.substr(2, comma == message.npos ? comma : comma - 2);
    message.remove_prefix(comma == message.npos ? message.size() : comma + 1);
    return value;
}

std::optional<std::vector<std::uint8_t>> decode(std::string_view base64)
{
    std::vector<std::uint8_t> bytes(bson::max_decoded_base64(base64.size()));
    const auto size = bson::decode_base64(base64, bytes.data());
    if (!size || *size == 0)
        return std::nullopt;
    bytes.resize(*size);
    return bytes;
}

/// A number as RFC 5802 writes it: digits, the first not zero.
std::optional<std::int64_t> parse_count(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size() || text[0] < '1' || text[0] > '9')
        return std::nullopt;
    return number;
}

struct server_first_message {
    std::string_view nonce;
    std::vector<std::uint8_t> salt;
    std::int32_t iterations;
};

result<server_first_message> parse_first(std::string_view message, std::string_view our_nonce,
                                         std::int32_t max_iterations)
{
    if (message.size() > max_server_message)
        return distrust("the server's first message is too long");
    if (message.starts_with("m="))
        return distrust("the server demands an extension that we do not know");
    const auto nonce = take(message, 'r');
    const auto salt = take(message, 's');
    const auto iterations = take(message, 'i');
    if (!nonce || !salt || !iterations)
        return distrust("the server's first message is not r=...,s=...,i=...");
    if (!is_nonce(*nonce) || !nonce->starts_with(our_nonce) || nonce->size() == our_nonce.size())
        return distrust("the server's nonce does not extend ours");
    auto salt_bytes = decode(*salt);
    if (!salt_bytes)
        return distrust("the server's salt is not base64");
    const auto count = parse_count(*iterations);
    if (!count)
        return distrust("the server's iteration count is not a number");
    if (*count < min_scram_iterations || *count > max_iterations)
        return distrust("the server's iteration count " + std::to_string(*count) +
                        " is not within " + std::to_string(min_scram_iterations) + " to " +
                        std::to_string(max_iterations));
    return server_first_message{*nonce, *std::move(salt_bytes), static_cast<std::int32_t>(*count)};
}

}  // namespace

result<scram_exchange> scram_exchange::start(scram_hash hash, std::string_view username,
                                             secret password, std::string_view nonce,
                                             std::vector<scram_keys> known,
                                             std::int32_t max_iterations)
{
    if (username.empty() || username.find('\0') != username.npos || !bson::is_utf8(username))
        return error{errc::invalid_credential,
                     "the user name must be UTF-8 text, not empty and without a zero byte"};
    if (password.view().empty())
        return error{errc::invalid_credential, "the password is empty"};
    if (!is_nonce(nonce))
        return error{errc::invalid_credential, "the nonce must be printable, without a comma"};
    scram_exchange begun;
    begun.nonce_ = nonce;
    begun.first_bare_ = "n=" + escaped(username) + ",r=" + begun.nonce_;
    begun.password_ = std::move(password);
    begun.known_ = std::move(known);
    begun.max_iterations_ = max_iterations;
    begun.keys_.hash = hash;
    return begun;
}

result<void> scram_exchange::receive(std::string_view server_first)
{
    auto parsed = parse_first(server_first, nonce_, max_iterations_);
    if (!parsed)
        return std::move(parsed).error();
    final_without_proof_ = no_channel_binding;
    final_without_proof_.append(",r=").append(parsed->nonce);
    signed_text_ = first_bare_ + "," + std::string{server_first} + "," + final_without_proof_;

    const auto same = [&](const scram_keys& k) {
        return k.hash == keys_.hash && k.iterations == parsed->iterations && k.salt == parsed->salt;
    };
    if (const auto found = std::ranges::find_if(known_, same); found != known_.end()) {
        keys_ = *found;
    } else {
        auto salting = password_salting::start(keys_.hash, password_.view(), parsed->salt,
                                               parsed->iterations);
        if (!salting)
            return std::move(salting).error();
        salting_ = *std::move(salting);
        keys_.salt = std::move(parsed->salt);
        keys_.iterations = parsed->iterations;
    }
    password_ = {};
    known_.clear();
    return {};
}

result<void> scram_exchange::compute_slice(std::int32_t iterations)
{
    if (auto advanced = salting_->advance(iterations); !advanced)
        return advanced;
    if (!salting_->done())
        return {};
    const auto client = hmac(keys_.hash, salting_->salted().bytes(), "Client Key");
    const auto server = hmac(keys_.hash, salting_->salted().bytes(), "Server Key");
    if (!client || !server)
        return client ? server.error() : client.error();
    keys_.client_key = *client;
    keys_.server_key = *server;
    salting_.reset();
    return {};
}

result<std::string> scram_exchange::final_message() const
{
    const auto stored_key = sasl::hash(keys_.hash, keys_.client_key.bytes());
    if (!stored_key)
        return stored_key.error();
    auto proof = hmac(keys_.hash, stored_key->bytes(), signed_text_);
    if (!proof)
        return std::move(proof).error();
    for (std::size_t i = 0; i < proof->bytes().size(); ++i)
        proof->bytes()[i] ^= keys_.client_key.bytes()[i];
    return final_without_proof_ + ",p=" + to_base64(proof->bytes());
}

result<std::string> scram_exchange::answer(std::string_view server_first)
{
    if (auto received = receive(server_first); !received)
        return std::move(received).error();
    while (!has_keys()) {
        if (auto computed = compute_slice(); !computed)
            return std::move(computed).error();
    }
    return final_message();
}

result<void> scram_exchange::check(std::string_view server_final) const
{
    if (server_final.size() > max_server_message)
        return distrust("the server's final message is too long");
    if (server_final.starts_with("e="))
        return error{errc::authentication_failed, "SCRAM: the server refused our proof"};
    const auto claimed = take(server_final, 'v');
    const auto signature = claimed ? decode(*claimed) : std::nullopt;
    if (!signature)
        return distrust("the server's final message is not v=...");
    const auto expected = hmac(keys_.hash, keys_.server_key.bytes(), signed_text_);
    if (!expected)
        return expected.error();
    if (!equal_in_constant_time(*signature, expected->bytes()))
        return distrust("the server's signature is wrong: it does not know the password");
    return {};
}

}  // namespace holdfast::core::sasl
