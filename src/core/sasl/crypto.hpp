#pragma once
#include "holdfast/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::core::sasl {

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

/// PBKDF2 with HMAC, which SCRAM calls Hi(): slow on purpose, and therefore computed in slices.
class password_salting {
public:
    static result<password_salting> start(scram_hash which, std::string_view password,
                                          std::span<const std::uint8_t> salt,
                                          std::int32_t iterations);
    password_salting(password_salting&&) noexcept;
    password_salting& operator=(password_salting&&) noexcept;
    ~password_salting();

    bool done() const noexcept { return left_ == 0; }

    /// Computes at most this many of the iterations.
    result<void> advance(std::int32_t iterations);

    /// Once it is done.
    const digest& salted() const noexcept { return salted_; }

private:
    struct keyed_hash;
    password_salting(std::unique_ptr<keyed_hash> hash, std::int32_t iterations) noexcept;

    std::unique_ptr<keyed_hash> hash_;
    digest last_;
    digest salted_;
    std::int32_t left_;
};

/// The same at once.
result<digest> salted_password(scram_hash which, std::string_view password,
                               std::span<const std::uint8_t> salt, std::int32_t iterations);

std::string to_base64(std::span<const std::uint8_t> bytes);

}  // namespace holdfast::core::sasl
