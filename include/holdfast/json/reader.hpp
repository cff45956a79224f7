#pragma once
#include "holdfast/bson/errc.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/text_run.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::json {

using bson::errc;

/// Nesting beyond this is refused, so that no text from outside can exhaust the stack.
inline constexpr int max_depth = 100;
/// A longer text is refused as a whole. Documents of a server have at most 20 MiB.
inline constexpr std::size_t max_text_size = std::size_t{64} << 20;

enum class kind : std::uint8_t { nothing, null, boolean, number, string, array, object };
std::string_view name_of(kind which) noexcept;

/// The kind of value that begins with this byte.
constexpr kind kind_of(char first) noexcept
{
    switch (first) {
    case 'n': return kind::null;
    case 't':
    case 'f': return kind::boolean;
    case '"': return kind::string;
    case '[': return kind::array;
    case '{': return kind::object;
    default: return first == '-' || (first >= '0' && first <= '9') ? kind::number : kind::nothing;
    }
}

/// Takes values from the front of a text, without a tree between. Whatever reads gives false after
/// a failure, and fault() says which; nothing may be read then.
class reader {
public:
    explicit reader(std::string_view text) noexcept
        : begin_{text.data()}, at_{begin_}, end_{begin_ + text.size()}
    {
    }

    /// The kind of the next value; `nothing` if there is none.
    kind next() noexcept
    {
        skip_space();
        return at_ == end_ ? kind::nothing : kind_of(*at_);
    }

    bool read_null();
    bool read(bool& to);
    bool read(std::string& to)
    {
        if (next() != kind::string) [[unlikely]]
            return fail_kind("string");
        const text_run run = scan_text({at_ + 1, static_cast<std::size_t>(end_ - at_ - 1)});
        const char* const stop = at_ + 1 + run.size;
        if (stop == end_ || *stop != '"' || run.has_high_bits) [[unlikely]]
            return read_escaped(to);
        to.assign(at_ + 1, run.size);
        at_ = stop + 1;
        return true;
    }

    template <std::integral Number>
    bool read(Number& to)
    {
        std::int64_t plain = 0;
        if (take_plain_integer(plain)) [[likely]] {
            if (std::in_range<Number>(plain)) [[likely]]
                return to = static_cast<Number>(plain), true;
            return fail_range(std::numeric_limits<Number>::digits + std::is_signed_v<Number>);
        }
        if constexpr (std::same_as<Number, std::uint64_t>) {
            return read_unsigned(to);
        } else {
            std::int64_t wide = 0;
            if (!read_signed(wide))
                return false;
            if (!std::in_range<Number>(wide))
                return fail_range(std::numeric_limits<Number>::digits + std::is_signed_v<Number>);
            return to = static_cast<Number>(wide), true;
        }
    }
    /// The double that is nearest to the number; one beyond all doubles is refused.
    bool read(double& to);

    /// Passes over a value of any kind, and checks it.
    bool skip();
    /// The same, and gives its text.
    bool skip(std::string_view& text);

    // Objects and arrays:
    //
    //     if (!in.enter('{'))
    //         return false;
    //     while (in.more('}'))
    //         if (!in.read_key(key) || !read(in, value))
    //             return false;
    //     return !in.failed();

    bool enter(char bracket)
    {
        if (next() != kind_of(bracket)) [[unlikely]]
            return fail_kind(name_of(kind_of(bracket)));
        if (depth_ == max_depth) [[unlikely]]
            return fail_depth();
        ++depth_;
        ++at_;
        first_ = true;
        return true;
    }
    /// Whether another member follows. False at the end, which it takes, and after a failure.
    bool more(char bracket)
    {
        skip_space();
        if (at_ != end_ && *at_ == bracket) {
            ++at_;
            --depth_;
            first_ = false;
            return false;
        }
        if (first_ && at_ != end_)
            return first_ = false, true;
        if (at_ != end_ && *at_ == ',') [[likely]] {
            ++at_;
            return true;
        }
        return fail_syntax("a comma or the end of the list");
    }
    /// Takes the key if it is this one, written without escapes. The colon comes next.
    bool take_key(std::string_view key)
    {
        skip_space();
        if (static_cast<std::size_t>(end_ - at_) < key.size() + 2 || *at_ != '"' ||
            std::memcmp(at_ + 1, key.data(), key.size()) != 0 || at_[key.size() + 1] != '"')
            return false;
        at_ += key.size() + 2;
        return true;
    }
    bool take_colon()
    {
        skip_space();
        if (at_ == end_ || *at_ != ':') [[unlikely]]
            return fail_syntax("a colon");
        ++at_;
        return true;
    }
    /// Any key and the colon. The view is valid until the next key is read.
    bool read_key(std::string_view& key);

    /// After the outermost value only white space may follow.
    bool finish();

    bool failed() const noexcept { return fault_.has_value(); }
    bool fail(error what)
    {
        fault_ = std::move(what);
        return false;
    }
    bool fail(errc code, std::string message);
    /// "expected string, found number".
    bool fail_kind(std::string_view expected);
    /// The fault again, seen from outside of `field`.
    bool fail_inside(std::string_view field)
    {
        return fault_ && fail(bson::inside(*std::move(fault_), field));
    }
    error fault() && { return *std::move(fault_); }

    // For types that are tried one after the other.

    struct place {
        const char* at;
        int depth;
    };
    place here() const noexcept { return {at_, depth_}; }
    /// Back to an earlier place, without the fault. False if too much has been read in vain: what
    /// is tried within what is tried could take exponentially long.
    bool go_back(place to);

private:
    void skip_space() noexcept
    {
        while (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ' && is_space(*at_))
            ++at_;
    }
    static bool is_space(char c) noexcept
    {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }
    /// Most integers: up to 18 digits, and nothing that makes it another number.
    bool take_plain_integer(std::int64_t& to) noexcept
    {
        skip_space();
        const char* p = at_;
        const bool negative = p != end_ && *p == '-';
        p += negative;
        const char* const first = p;
        std::int64_t value = 0;
        while (p != end_ && *p >= '0' && *p <= '9' && p - first < 18)
            value = value * 10 + (*p++ - '0');
        const auto digits = p - first;
        const bool goes_on = p != end_ &&
                             ((*p >= '0' && *p <= '9') || *p == '.' || *p == 'e' || *p == 'E');
        if (digits == 0 || goes_on || (*first == '0' && digits > 1))
            return false;
        to = negative ? -value : value;
        at_ = p;
        return true;
    }

    bool read_escaped(std::string& to);
    bool read_signed(std::int64_t& to);
    bool read_unsigned(std::uint64_t& to);
    bool read_escape(std::string& to);
    bool read_hex4(unsigned& to);
    bool take_literal(std::string_view literal);
    bool take_number(std::string_view& text, bool& is_integer);
    bool skip_text();
    bool skip_members(char close);
    bool fail_syntax(std::string_view expected);
    bool fail_range(int bits);
    bool fail_depth();
    std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

    const char* begin_;
    const char* at_;
    const char* end_;
    int depth_ = 0;
    bool first_ = false;  // right behind an opening bracket
    std::size_t read_in_vain_ = 0;
    std::string key_;  // one that had escapes
    std::optional<error> fault_;
};

}  // namespace holdfast::json
