#include "core/couchbase/handshake/hello_key.hpp"

#include <cstddef>

namespace holdfast::core::couchbase {

namespace {

constexpr std::size_t max_agent = 200;
constexpr std::size_t max_name =
    34;  // two numbers of 64 bits in hexadecimal, a slash, one to spare

bool continues_a_character(char c) noexcept
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// What JSON needs; control characters are no part of a name, and become spaces.
std::string in_json(std::string_view text, std::size_t limit)
{
    std::string out;
    std::size_t whole = 0;  // up to the end of the last complete character
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
        if (out.size() > limit)
            break;
        if (i + 1 == text.size() || !continues_a_character(text[i + 1]))
            whole = out.size();
    }
    out.resize(whole);
    return out;
}

}  // namespace

std::string hello_key(std::string_view agent, std::string_view connection_name)
{
    return R"({"a":")" + in_json(agent, max_agent) + R"(","i":")" +
           in_json(connection_name, max_name) + R"("})";
}

}  // namespace holdfast::core::couchbase
