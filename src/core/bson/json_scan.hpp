#pragma once
#include "core/bson/json_text.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// A JSON number: an integer if it has neither fraction nor exponent and fits into 64 bits.
struct json_number {
    bool integer = true;
    std::int64_t whole = 0;
    double real = 0;
};

/// Reads the tokens of a JSON text (RFC 8259) from left to right. A function that gives false has
/// left an error; nothing may be read after it.
class json_scanner {
public:
    explicit json_scanner(std::string_view text) noexcept
        : begin_{text.data()}, at_{begin_}, end_{begin_ + text.size()}
    {
    }

    /// The next character behind any blanks, which stays where it is; zero at the end of the text.
    char peek() noexcept
    {
        if (at_ != end_ && static_cast<unsigned char>(*at_) > ' ') [[likely]]
            return *at_;
        return skip_blanks();
    }

    /// Passes over the character that peek() has just given.
    void advance() noexcept { ++at_; }

    /// Whether the next character is `c`, which is not zero; if so, it is passed over.
    bool take(char c) noexcept
    {
        if (peek() != c)
            return false;
        ++at_;
        return true;
    }
    bool at_end() noexcept { return peek() == '\0' && at_ == end_; }

    /// A string, without its quotes. It points into the JSON text, or into `scratch` if there were
    /// escapes to resolve.
    bool string(std::string_view& text, std::string& scratch, const char* expected = "a string")
    {
        if (peek() != '"') [[unlikely]]
            return unexpected(expected);
        const char* const first = at_ + 1;
        const char* const last = skip_plain(first, end_);
        if (last == end_ || *last != '"') [[unlikely]]
            return unusual_string(last, text, scratch);
        text = {first, static_cast<std::size_t>(last - first)};
        at_ = last + 1;
        return true;
    }

    /// A number; the next character is a digit or a minus.
    bool number(json_number& read);

    /// One of the words true, false and null; the next character is its first.
    bool chunk(std::string_view expected);

    /// The position of the next token.
    const char* at() noexcept
    {
        peek();
        return at_;
    }
    std::string_view rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }
    void rewind(const char* to) noexcept { at_ = to; }

    /// Always false, so that callers can return it: "expected ':', found '}'".
    bool unexpected(std::string_view expected) { return unexpected(expected, at()); }
    bool unexpected(std::string_view expected, const char* at);

    /// Always false. The message gets line and column of `at` in front.
    bool fail(std::string message, const char* at, errc what = errc::invalid_json);

    error fault() && { return *std::move(fault_); }

private:
    char skip_blanks() noexcept;
    bool unusual_string(const char* at, std::string_view& text, std::string& scratch);
    bool escape(const char*& at, std::string& out);
    bool unicode_escape(const char*& at, std::string& out);
    std::optional<std::uint32_t> four_digits(const char* at) const noexcept;
    const char* skip_digits(const char* at) const noexcept;
    bool long_number(const char* at, json_number& read);

    const char* begin_;
    const char* at_;
    const char* end_;
    std::optional<error> fault_;
};

}  // namespace holdfast::bson
