#include "core/bson/json_parse.hpp"

#include "core/bson/quote.hpp"
#include "holdfast/bson/array_index.hpp"
#include "holdfast/bson/json.hpp"

#include <limits>

namespace holdfast::bson {

result<void> json_parser::parse_document()
{
    return finish(in_.take('{') ? document_body(1) : in_.unexpected("'{'"));
}

result<void> json_parser::parse_array()
{
    return finish(in_.take('[') ? array_body(1) : in_.unexpected("'['"));
}

result<void> json_parser::finish(bool good)
{
    if (good && !in_.at_end())
        good = in_.unexpected("the end of the text");
    if (good && out_.size() - start_ > max_document_size)
        good = in_.fail("the document is larger than 2 GB", in_.at(), errc::too_large);
    if (good)
        return {};
    out_.truncate(start_);
    return std::move(in_).fault();
}

bool json_parser::value(std::size_t type_at, int depth)
{
    switch (in_.peek()) {
    case '"':
        return text_value(type_at);
    case '{':
        in_.advance();
        return object(type_at, depth);
    case '[':
        in_.advance();
        start_value(type::array, type_at, 0);
        return array_body(depth + 1);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return number_value(type_at);
    case 't':
        *start_value(type::boolean, type_at, 1) = 1;
        return in_.chunk("true");
    case 'f':
        *start_value(type::boolean, type_at, 1) = 0;
        return in_.chunk("false");
    case 'n':
        start_value(type::null, type_at, 0);
        return in_.chunk("null");
    default:
        return in_.unexpected("a value");
    }
}

bool json_parser::text_value(std::size_t type_at)
{
    std::string_view text;
    if (!in_.string(text, scratch_))
        return false;
    put_text(type::string, type_at, text);
    return true;
}

bool json_parser::number_value(std::size_t type_at)
{
    json_number read;
    if (!in_.number(read))
        return false;
    using narrow = std::numeric_limits<std::int32_t>;
    if (!read.integer)
        layout::store(start_value(type::double_, type_at, 8), read.real);
    else if (read.whole >= narrow::min() && read.whole <= narrow::max())
        layout::store(start_value(type::int32, type_at, 4), static_cast<std::int32_t>(read.whole));
    else
        layout::store(start_value(type::int64, type_at, 8), read.whole);
    return true;
}

/// An object as a value: a document, or a wrapper, as its first key decides. Wrappers do not count
/// as a level, since there is none in the BSON that they become.
bool json_parser::object(std::size_t type_at, int depth)
{
    if (in_.take('}')) {
        start_value(type::document, type_at, 0);
        return empty_document(depth + 1);
    }
    const char* const body = in_.at();
    std::string_view key;
    if (!read_key(key))
        return false;
    if (key.starts_with('$')) {
        const json_wrapper which = wrapper_of(key);
        if (is_only_wrapper(which) || is_legacy_pair(which))
            return colon_after(key) && wrapper(which, type_at, body, depth);
    }
    start_value(type::document, type_at, 0);
    return members(key, depth + 1);
}

/// An object that must be a document, from behind its '{' on.
bool json_parser::document_body(int depth)
{
    if (in_.take('}'))
        return empty_document(depth);
    std::string_view key;
    return read_member_key(key, depth) && members(key, depth);
}

bool json_parser::empty_document(int depth)
{
    const std::size_t start = out_.size();
    if (!start_document(depth))
        return false;
    end_document(start);
    return true;
}

bool json_parser::members(std::string_view first_key, int depth)
{
    const std::size_t start = out_.size();
    if (!start_document(depth))
        return false;
    std::string_view key = first_key;
    for (;;) {
        const std::size_t type_at = start_element(key);
        if (!colon_after(key) || !value(type_at, depth))
            return false;
        if (!in_.take(','))
            break;
        if (!read_member_key(key, depth))
            return false;
    }
    if (!in_.take('}'))
        return in_.unexpected("',' or '}'");
    end_document(start);
    return true;
}

/// From behind the '[' on.
bool json_parser::array_body(int depth)
{
    if (in_.take(']'))
        return empty_document(depth);
    const std::size_t start = out_.size();
    if (!start_document(depth))
        return false;
    array_index index;
    do {
        if (!value(start_element(index.next()), depth))
            return false;
    } while (in_.take(','));
    if (!in_.take(']'))
        return in_.unexpected("',' or ']'");
    end_document(start);
    return true;
}

bool json_parser::read_key(std::string_view& key)
{
    const char* const at = in_.at();
    if (!in_.string(key, scratch_, "a key"))
        return false;
    const bool escaped = key.data() == scratch_.data();  // only an escape can make a zero byte
    if (escaped && key.find('\0') != key.npos)
        return in_.fail("a key cannot hold a zero byte", at);
    return true;
}

/// A key of a document. The specification: an object that has the key of a wrapper has no others,
/// whatever their order, unless it is the outermost object, which is always a document.
bool json_parser::read_member_key(std::string_view& key, int depth)
{
    const char* const at = in_.at();
    if (!read_key(key))
        return false;
    if (key.starts_with('$') && depth > 1 && is_only_wrapper(wrapper_of(key)))
        return in_.fail("the type wrapper " + quote(key) + " cannot be one key among others", at);
    return true;
}

bool json_parser::missing_colon(std::string_view key)
{
    return in_.unexpected("':' after key " + quote(key));
}

bool json_parser::start_document(int depth)
{
    out_.grow(4);
    if (depth > max_depth) [[unlikely]]
        return in_.fail("nested deeper than " + std::to_string(max_depth) + " documents", in_.at(),
                        errc::too_deep);
    return true;
}

void json_parser::end_document(std::size_t start)
{
    *out_.grow(1) = 0;
    layout::store(out_.data() + start, static_cast<std::int32_t>(out_.size() - start));
}

result<document> from_json(std::string_view text)
{
    byte_buffer bytes;
    bytes.reserve(text.size());
    auto done = append_from_json(bytes, text);
    if (!done)
        return std::move(done).error();
    return document::adopt(std::move(bytes));
}

result<void> append_from_json(byte_buffer& out, std::string_view text)
{
    return json_parser{text, out}.parse_document();
}

result<array> array_from_json(std::string_view text)
{
    byte_buffer bytes;
    bytes.reserve(text.size());
    auto done = json_parser{text, bytes}.parse_array();
    if (!done)
        return std::move(done).error();
    return array::adopt(std::move(bytes));
}

}  // namespace holdfast::bson
