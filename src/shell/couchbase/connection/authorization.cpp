#include "shell/couchbase/connection/authorization.hpp"

#include "core/sasl/crypto.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

namespace holdfast::shell::couchbase {

secret authorization_of(const login& with)
{
    if (const auto* const token = std::get_if<core::couchbase::token_credential>(&with.credential))
        return secret{{"Bearer ", token->jwt.view()}};
    const auto* const password = std::get_if<core::couchbase::password_credential>(
        &with.credential);
    if (password == nullptr)
        return {};
    const secret plain{{password->user, ":", password->password.view()}};
    const std::string_view text = plain.view();
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    return secret{{"Basic ", core::sasl::to_base64({bytes, text.size()})}};
}

}  // namespace holdfast::shell::couchbase
