#include "lab/update/words.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace holdfast::lab::updating {
namespace {

constexpr std::size_t longest = 400;
constexpr int deepest = 12;

void append_value(std::string& out, const bson::element& e, int depth);

void append_double(std::string& out, double value)
{
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
    if (std::isfinite(value) && out.find_first_of(".e", out.size() - (end - text)) == out.npos)
        out += ".0";
}

void append_fields(std::string& out, bson::view document, bool named, int depth)
{
    const char* const brackets = named ? "{}" : "[]";
    out += brackets[0];
    bool first = true;
    for (const bson::element& e : document) {
        out += first ? " " : ", ";
        first = false;
        if (e.malformed() || depth >= deepest || out.size() > longest) {
            out += "...";
            break;
        }
        if (named)
            out.append(e.key()).append(": ");
        append_value(out, e, depth + 1);
    }
    if (!first)
        out += ' ';
    out += brackets[1];
}

void append_hex(std::string& out, std::span<const std::uint8_t> bytes)
{
    constexpr char digits[] = "0123456789abcdef";
    for (const std::uint8_t b : bytes.first(std::min<std::size_t>(bytes.size(), 64))) {
        out += digits[b >> 4];
        out += digits[b & 15];
    }
}

void append_text(std::string& out, std::string_view text)
{
    constexpr std::size_t shown = 150;
    out += '"';
    out += text.substr(0, shown);
    out += text.size() > shown ? "...\"" : "\"";
}

/// The types that are written with a name and brackets.
void append_named(std::string& out, const bson::element& e)
{
    switch (e.type()) {
    case bson::type::object_id:
        out += "ObjectId('";
        append_hex(out, e.value_bytes());
        out += "')";
        return;
    case bson::type::datetime:
        out += "new Date(" + std::to_string(e.as_datetime().time_since_epoch().count()) + ")";
        return;
    case bson::type::timestamp:
        out += "Timestamp(" + std::to_string(e.as_timestamp().seconds) + ", " +
               std::to_string(e.as_timestamp().increment) + ")";
        return;
    case bson::type::binary:
        out += "BinData(" + std::to_string(static_cast<int>(e.as_binary().subtype)) + ", ";
        append_hex(out, e.as_binary().bytes);
        out += ")";
        return;
    default:
        out += type_name(e.type());
    }
}

void append_value(std::string& out, const bson::element& e, int depth)
{
    switch (e.type()) {
    case bson::type::double_:
        return append_double(out, e.as_double());
    case bson::type::string:
    case bson::type::symbol:
    case bson::type::code:
        return append_text(out, e.as_string());
    case bson::type::document:
        return append_fields(out, e.as_document(), true, depth);
    case bson::type::array:
        return append_fields(out, e.as_document(), false, depth);
    case bson::type::boolean:
        out += e.as_bool() ? "true" : "false";
        return;
    case bson::type::int32:
        out += std::to_string(e.as_int32());
        return;
    case bson::type::int64:
        out += std::to_string(e.as_int64());
        return;
    case bson::type::decimal128:
        out += e.as_decimal128().to_string();
        return;
    case bson::type::regex:
        out.append("/").append(e.as_regex().pattern).append("/").append(e.as_regex().options);
        return;
    default:
        return append_named(out, e);
    }
}

}  // namespace

std::string words_of(const bson::element& e)
{
    std::string out{e.key()};
    out += ": ";
    append_value(out, e, 0);
    return out;
}

std::string words_of(bson::view document)
{
    std::string out;
    append_fields(out, document, true, 0);
    return out;
}

std::string id_words(bson::view document)
{
    const bson::element id = document.find("_id");
    return id ? words_of(id) : "no _id";
}

}  // namespace holdfast::lab::updating
