#pragma once
#include "holdfast/error.hpp"
#include "lab/sasl/scram.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// The two mechanisms that MongoDB has.
constexpr scram_hash hash_of(bool sha_256) noexcept
{
    return sha_256 ? scram_hash::sha_256 : scram_hash::sha_1;
}

constexpr std::size_t salt_size(bool sha_256) noexcept
{
    return sha_256 ? 28 : 16;
}

/// The hexadecimal MD5 of "user:mongo:password", which is the password of SCRAM-SHA-1.
result<std::string> digest_password(std::string_view user, std::string_view password);

/// 32 bytes that cannot be guessed back.
std::vector<std::uint8_t> fingerprint(std::string_view text);

/// 18, in the one sentence that does not say what was wrong.
error authentication_failed();

}  // namespace holdfast::lab::mongo
