#pragma once
#include "core/bson/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// Appends JSON to a string, in place. Keeps room ahead so that small pieces need no check each,
/// and takes back everything it has written unless keep() was called.
class json_writer {
public:
    json_writer(std::string& out, std::size_t expected_size);
    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;
    ~json_writer();

    void keep() noexcept { kept_ = true; }

    /// Room for `count` more characters; the writer reports by wrote() how many it used.
    char* room(std::size_t count)
    {
        if (static_cast<std::size_t>(end_ - at_) < count) [[unlikely]]
            grow(count);
        return at_;
    }
    void wrote(char* end) noexcept { at_ = end; }

    /// Literals and single characters lie within the room that is always kept ahead.
    template <std::size_t N>
    void literal(const char (&text)[N])
    {
        static_assert(N - 1 <= ahead);
        room(ahead);
        std::memcpy(at_, text, N - 1);
        at_ += N - 1;
    }
    void put(char c)
    {
        *room(1) = c;
        ++at_;
    }
    void replace_last(char c) noexcept { at_[-1] = c; }
    /// A string with its quotes; false if it is no UTF-8. What lies behind the text is not written,
    /// but up to `readable_end` it may be read, so that short texts are copied in one piece.
    bool string(std::string_view text, const char* readable_end)
    {
        const std::size_t size = text.size();
        char* const to = room(size + text_slack);
        const auto readable = static_cast<std::size_t>(readable_end - text.data());
        if (size > plain_block || readable < plain_block || plain_prefix(text.data()) < size)
            return long_string(text, readable_end);
        *to = '"';
        std::memcpy(to + 1, text.data(), plain_block);
        to[size + 1] = '"';
        at_ = to + size + 2;
        return true;
    }

private:
    static constexpr std::size_t ahead = 40;
    // A string fills what it grows by with zeros. Small steps waste little on what is never used,
    // and keep to sizes for which filling is cheap; the memory itself grows geometrically.
    static constexpr std::size_t step = 1536;

    // Beyond a text itself: its quotes, one escape, and the rest of the last block.
    static constexpr std::size_t longest_escape = 6;
    static constexpr std::size_t text_slack = 2 + longest_escape + plain_block;

    void grow(std::size_t count);
    bool long_string(std::string_view text, const char* readable_end);
    const char* copy_plain(const char* from, const char* end, const char* readable_end) noexcept;
    void escape(char c) noexcept;

    std::string& out_;
    std::size_t before_;
    char* at_;
    char* end_;
    bool kept_ = false;
};

}  // namespace holdfast::bson
