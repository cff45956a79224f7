#include "core/bson/json_writer.hpp"

#include "core/bson/hex.hpp"
#include "core/bson/utf8_sequence.hpp"

#include <algorithm>

namespace holdfast::bson {

namespace {

/// The letter of a short escape, or zero.
char escape_letter(char c) noexcept
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return '\0';
    }
}

}  // namespace

json_writer::json_writer(std::string& out, std::size_t expected_size)
    : out_{out}, before_{out.size()}
{
    out_.reserve(before_ + expected_size);
    out_.resize(before_ + std::min(expected_size, step));
    at_ = out_.data() + before_;
    end_ = out_.data() + out_.size();
}

json_writer::~json_writer()
{
    out_.resize(kept_ ? static_cast<std::size_t>(at_ - out_.data()) : before_);
}

void json_writer::grow(std::size_t count)
{
    const auto used = static_cast<std::size_t>(at_ - out_.data());
    out_.resize(used + count + step);
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
}

/// Copies up to the first character that is not plain. There is room for a block more than that:
/// whole blocks are written, even where only their beginning is wanted.
const char* json_writer::copy_plain(const char* from, const char* end,
                                    const char* readable_end) noexcept
{
    while (from != end && static_cast<std::size_t>(readable_end - from) >= plain_block) {
        std::memcpy(at_, from, plain_block);
        const std::size_t plain = std::min(plain_prefix(from),
                                           static_cast<std::size_t>(end - from));
        from += plain;
        at_ += plain;
        if (plain != plain_block)
            return from;
    }
    while (from != end && is_plain(*from))
        *at_++ = *from++;
    return from;
}

void json_writer::escape(char c) noexcept
{
    *at_++ = '\\';
    if (const char letter = escape_letter(c)) {
        *at_++ = letter;
        return;
    }
    const auto byte = static_cast<unsigned char>(c);
    std::memcpy(at_, "u00", 3);
    at_[3] = hex_digits[byte >> 4];
    at_[4] = hex_digits[byte & 0x0F];
    at_ += 5;
}

/// Any string. There is room for it, as long as nothing in it is escaped.
bool json_writer::long_string(std::string_view text, const char* readable_end)
{
    const char* from = text.data();
    const char* const end = from + text.size();
    *at_++ = '"';
    for (;;) {
        from = copy_plain(from, end, readable_end);
        if (from == end)
            break;
        if (static_cast<unsigned char>(*from) < 0x80) {
            escape(*from++);
            room(static_cast<std::size_t>(end - from) + text_slack);
            continue;
        }
        do {
            const std::size_t length = utf8_sequence(from, end);
            if (length == 0)
                return false;
            for (const char* const next = from + length; from != next;)
                *at_++ = *from++;
        } while (from != end && static_cast<unsigned char>(*from) >= 0x80);
    }
    *at_++ = '"';
    return true;
}

}  // namespace holdfast::bson
