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

namespace holdfast::core::sasl {

/// Text that is wiped from memory when it is no longer used. It cannot be streamed or concatenated,
/// so that it gets into a message only by an explicit view().
class secret {
public:
    secret() = default;
    /// The parts concatenated, without an intermediate copy that would not be wiped.
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

enum class scram_hash : std::uint8_t { sha_1, sha_256, sha_512 };

/// The number of bytes of a hash value.
constexpr std::size_t size_of(scram_hash which) noexcept
{
    switch (which) {
    case scram_hash::sha_1:
        return 20;
    case scram_hash::sha_256:
        return 32;
    case scram_hash::sha_512:
        return 64;
    }
    return 0;
}

/// A hash value, or a key made of one; wiped when it is no longer used.
class digest {
public:
    static constexpr std::size_t max_size = 64;

    digest() = default;
    explicit digest(scram_hash which) noexcept : size_{size_of(which)} {}
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

std::string to_base64(std::span<const std::uint8_t> bytes);

}  // namespace holdfast::core::sasl
