#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast {

namespace details {

/// By volatile stores, which a compiler may not leave out although nothing reads them any more.
inline void overwrite(char* bytes, std::size_t size) noexcept
{
    volatile char* at = bytes;
    for (; size != 0; --size)
        *at++ = 0;
}

}  // namespace details

/// A password or a key: its memory is overwritten when it goes. It cannot be streamed or
/// concatenated, so that it gets into a message only by an explicit view().
class secret {
public:
    secret() = default;
    template <class Text>
        requires(std::convertible_to<const Text&, std::string_view> &&
                 !std::same_as<std::remove_cvref_t<Text>, secret>)
    secret(const Text& text)
    {
        const std::string_view all{text};
        bytes_.assign(all.begin(), all.end());
    }
    /// The parts concatenated, without an intermediate copy that would be left in memory.
    explicit secret(std::initializer_list<std::string_view> parts)
    {
        std::size_t size = 0;
        for (const std::string_view part : parts)
            size += part.size();
        bytes_.reserve(size);
        for (const std::string_view part : parts)
            bytes_.insert(bytes_.end(), part.begin(), part.end());
    }
    /// Takes over the bytes; nothing is copied.
    explicit secret(std::vector<char>&& bytes) noexcept : bytes_{std::move(bytes)} {}

    secret(const secret&) = default;
    secret(secret&&) noexcept = default;
    secret& operator=(const secret& other)
    {
        if (this != &other) {
            overwrite();
            bytes_ = other.bytes_;
        }
        return *this;
    }
    secret& operator=(secret&& other) noexcept
    {
        if (this != &other) {
            overwrite();
            bytes_ = std::move(other.bytes_);
        }
        return *this;
    }
    ~secret() { overwrite(); }

    std::string_view view() const noexcept { return {bytes_.data(), bytes_.size()}; }

    friend bool operator==(const secret& a, const secret& b) noexcept
    {
        return a.view() == b.view();
    }

private:
    void overwrite() noexcept { details::overwrite(bytes_.data(), bytes_.size()); }

    std::vector<char> bytes_;  // not a string: a short one would be copied when it moves
};

/// Overwrites a text that held a secret on its way.
inline void wipe(std::string& text) noexcept
{
    details::overwrite(text.data(), text.size());
    text.clear();
}

}  // namespace holdfast
