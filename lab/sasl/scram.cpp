#include "lab/sasl/scram.hpp"

#include "core/bson/base64.hpp"

#include <utility>

namespace holdfast::lab {

namespace sasl = core::sasl;

namespace {

using octets = std::vector<std::uint8_t>;

/// "name=value" up to the next comma; what follows is left in `text`.
std::optional<std::string_view> attribute(std::string_view& text, char name)
{
    if (text.size() < 2 || text[0] != name || text[1] != '=')
        return std::nullopt;
    const std::size_t comma = text.find(',');
    const std::string_view value = text.substr(2, comma == text.npos ? comma : comma - 2);
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
    return value;
}

/// "=2C" is a comma and "=3D" an equals sign; nothing else may follow one.
std::optional<std::string> unescaped(std::string_view name)
{
    std::string plain;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] != '=') {
            plain += name[at];
            continue;
        }
        const std::string_view code = name.substr(at + 1, 2);
        if (code != "2C" && code != "3D")
            return std::nullopt;
        plain += code == "2C" ? ',' : '=';
        at += 2;
    }
    return plain;
}

octets bytes_of(const sasl::digest& from)
{
    return {from.bytes().begin(), from.bytes().end()};
}

}  // namespace

std::string base64_text(std::span<const std::uint8_t> bytes)
{
    std::string text(bson::base64_size(bytes.size()), '\0');
    bson::encode_base64(bytes, text.data());
    return text;
}

std::optional<octets> bytes_of_base64(std::string_view text)
{
    octets bytes(bson::max_decoded_base64(text.size()) + 3);
    const auto size = bson::decode_base64(text, bytes.data());
    if (!size)
        return std::nullopt;
    bytes.resize(*size);
    return bytes;
}

result<scram_keys> derive_scram_keys(scram_hash with, std::string_view password, octets salt,
                                     std::int32_t iterations)
{
    const auto salted = sasl::salted_password(with, password, salt, iterations);
    if (!salted)
        return salted.error();
    const auto client_key = sasl::hmac(with, salted->bytes(), "Client Key");
    const auto server_key = sasl::hmac(with, salted->bytes(), "Server Key");
    if (!client_key || !server_key)
        return client_key ? server_key.error() : client_key.error();
    const auto stored_key = sasl::hash(with, client_key->bytes());
    if (!stored_key)
        return stored_key.error();
    return scram_keys{iterations, std::move(salt), bytes_of(*stored_key), bytes_of(*server_key)};
}

std::optional<client_first> read_client_first(std::string_view text)
{
    // Channel binding is not offered ("p="); a client that thinks it might be ("y") goes on.
    if (text.size() < 3 || (text[0] != 'n' && text[0] != 'y') || text[1] != ',')
        return std::nullopt;
    const std::size_t comma = text.find(',', 2);
    if (comma == text.npos)
        return std::nullopt;
    client_first read;
    read.header = text.substr(0, comma + 1);
    std::string_view rest = text.substr(comma + 1);
    read.bare = rest;
    const auto name = attribute(rest, 'n');
    const auto nonce = attribute(rest, 'r');
    const auto user = name ? unescaped(*name) : std::nullopt;
    if (!user || !nonce || nonce->empty())
        return std::nullopt;
    read.user = *user;
    read.nonce = *nonce;
    return read;
}

std::string begin_scram(scram_conversation& in, client_first from, const scram_keys& keys,
                        std::string_view nonce)
{
    in.user = std::move(from.user);
    in.header = std::move(from.header);
    in.first_bare = std::move(from.bare);
    in.nonce = std::move(from.nonce);
    in.nonce.append(nonce);
    in.stored_key = keys.stored_key;
    in.server_key = keys.server_key;
    in.server_first = "r=" + in.nonce + ",s=" + base64_text(keys.salt) +
                      ",i=" + std::to_string(keys.iterations);
    return in.server_first;
}

std::optional<std::string> end_scram(const scram_conversation& in, std::string_view client_final)
{
    const std::size_t proof_at = client_final.rfind(",p=");
    if (proof_at == client_final.npos)
        return std::nullopt;
    std::string_view rest = client_final;
    const auto binding = attribute(rest, 'c');
    const auto nonce = attribute(rest, 'r');
    const auto header = binding ? bytes_of_base64(*binding) : std::nullopt;
    const auto proof = bytes_of_base64(client_final.substr(proof_at + 3));
    if (!header || !nonce || !proof || *nonce != in.nonce ||
        std::string_view{reinterpret_cast<const char*>(header->data()), header->size()} !=
            in.header)
        return std::nullopt;

    const std::string signed_text = in.first_bare + ',' + in.server_first + ',' +
                                    std::string{client_final.substr(0, proof_at)};
    auto client_key = sasl::hmac(in.hash, in.stored_key, signed_text);
    const auto signature = sasl::hmac(in.hash, in.server_key, signed_text);
    if (!client_key || !signature || client_key->bytes().size() != proof->size())
        return std::nullopt;
    for (std::size_t i = 0; i < proof->size(); ++i)
        client_key->bytes()[i] ^= (*proof)[i];
    const auto stored = sasl::hash(in.hash, client_key->bytes());
    if (!stored || !sasl::equal_in_constant_time(stored->bytes(), in.stored_key))
        return std::nullopt;
    return "v=" + base64_text(signature->bytes());
}

}  // namespace holdfast::lab
