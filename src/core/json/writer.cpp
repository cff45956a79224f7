#include "holdfast/json/writer.hpp"

#include "holdfast/bson/validate.hpp"

#include <cmath>
#include <string>

namespace holdfast::json {

namespace {

/// \n and the like; zero if there is no short form.
constexpr char short_escape(char c) noexcept
{
    switch (c) {
    case '"':
    case '\\': return c;
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

template <class Number>
void append_number(bson::byte_buffer& out, Number value)
{
    constexpr std::size_t longest = 32;
    char* const room = reinterpret_cast<char*>(out.grow(longest));
    const auto end = std::to_chars(room, room + longest, value).ptr;
    out.truncate(out.size() - longest + static_cast<std::size_t>(end - room));
}

}  // namespace

bool writer::write(double value)
{
    if (!std::isfinite(value))
        return fail(errc::out_of_range, "JSON has no number that is not finite");
    separate();
    append_number(out_, value);
    return true;
}

bool writer::write(float value)
{
    if (!std::isfinite(value))
        return fail(errc::out_of_range, "JSON has no number that is not finite");
    separate();
    append_number(out_, value);
    return true;
}

bool writer::put_escaped(std::string_view text)
{
    if (!bson::is_utf8(text))
        return fail(errc::invalid_utf8, "the text is not UTF-8");
    put('"');
    for (;;) {
        const std::size_t plain = scan_text(text).size;
        text.copy(reinterpret_cast<char*>(out_.grow(plain)), plain);
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const char c = text.front();
        text.remove_prefix(1);
        put('\\');
        if (const char escape = short_escape(c)) {
            put(escape);
        } else {
            constexpr char digits[] = "0123456789abcdef";
            for (const char each : {'u', '0', '0', digits[c >> 4], digits[c & 0xf]})
                put(each);
        }
    }
    put('"');
    return true;
}

bool writer::write_json(std::string_view text)
{
    reader check{text};
    std::string_view value;
    if (!check.skip(value) || !check.finish())
        return fail(std::move(check).fault());
    separate();
    std::memcpy(out_.grow(value.size()), value.data(), value.size());
    return true;
}

bool writer::fail(errc code, std::string_view message)
{
    return fail(error{code, std::string{message}});
}

}  // namespace holdfast::json
