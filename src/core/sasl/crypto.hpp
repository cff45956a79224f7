#pragma once
#include "holdfast/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// Text that is wiped from memory when it is no longer used. It has no way into a message: whoever
/// wants to read it has to ask for the view.
class secret {
public:
    secret() = default;
    /// The parts one behind the other, without a copy in between that nobody would wipe.
    explicit secret(std::initializer_list<std::string_view> parts);
    secret(const secret&) = default;
    secret(secret&&) noexcept = default;
    secret& operator=(const secret& other);
    secret& operator=(secret&& other) noexcept;
    ~secret() { wipe(); }

    std::string_view view() const noexcept { return {bytes_.data(), bytes_.size()}; }

private:
    void wipe() noexcept;

    std::vector<char> bytes_;  // not a string: a short one would be copied when it moves
};

enum class scram_hash : std::uint8_t { sha_1, sha_256 };

/// A hash value, or a key made of one; wiped when it is no longer used.
class digest {
public:
    static constexpr std::size_t max_size = 32;

    digest() = default;
    explicit digest(scram_hash which) noexcept : size_{which == scram_hash::sha_1 ? 20U : 32U} {}
    digest(const digest&) = default;
    digest& operator=(const digest&) = default;
    ~digest();

    std::span<std::uint8_t> bytes() noexcept { return {bytes_.data(), size_}; }
    std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.data(), size_}; }

    /// Takes the same time whatever the bytes are.
    friend bool operator==(const digest& a, const digest& b) noexcept;

private:
    std::array<std::uint8_t, max_size> bytes_{};
    std::size_t size_ = 0;
};

/// Compares in a time that depends on the sizes alone.
bool equal_in_constant_time(std::span<const std::uint8_t> a,
                            std::span<const std::uint8_t> b) noexcept;

result<digest> hash(scram_hash which, std::span<const std::uint8_t> bytes);
result<digest> hmac(scram_hash which, std::span<const std::uint8_t> key, std::string_view text);

/// PBKDF2 with HMAC, which SCRAM calls Hi(): slow on purpose.
result<digest> salted_password(scram_hash which, std::string_view password,
                               std::span<const std::uint8_t> salt, std::int32_t iterations);

/// The hexadecimal MD5 of "user:mongo:password", which SCRAM-SHA-1 uses in place of a password.
result<secret> mongo_password_digest(std::string_view username, std::string_view password);

std::string to_base64(std::span<const std::uint8_t> bytes);

}  // namespace holdfast::core::mongo
