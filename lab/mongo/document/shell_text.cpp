#include "lab/mongo/document/shell_text.hpp"

#include "core/bson/hex.hpp"
#include "holdfast/bson/uuid.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::lab {
namespace {

/// How much is shown: a message, not a dump.
struct limits {
    std::size_t whole;
    std::size_t text;  // of a string, or of bytes
    int depth;
};
constexpr limits nearly_all{100'000, 100'000, bson::max_depth};
constexpr limits briefly{400, 150, 12};

void put_value(std::string& out, const bson::element& e, const limits& most, int depth);

void put_fields(std::string& out, bson::view fields, bool named, const limits& most, int depth)
{
    if (depth > most.depth) {
        out += "...";
        return;
    }
    out += named ? '{' : '[';
    bool first = true;
    for (const bson::element& e : fields) {
        if (out.size() > most.whole) {
            out += " ...";
            break;
        }
        out += first ? " " : ", ";
        first = false;
        if (named) {
            out += e.key();
            out += ": ";
        }
        put_value(out, e, most, depth + 1);
    }
    if (!first)
        out += ' ';
    out += named ? '}' : ']';
}

void put_quoted(std::string& out, std::string_view text, std::size_t most)
{
    out += '"';
    for (const char c : text.substr(0, most)) {
        if (c == '"' || c == '\\')
            out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    out += text.size() > most ? "...\"" : "\"";
}

void put_double(std::string& out, double value)
{
    if (std::isnan(value)) {
        out += "nan.0";
        return;
    }
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    const std::string_view printed{text, static_cast<std::size_t>(end - text)};
    out += printed;
    if (printed.find_first_of(".en") == printed.npos)
        out += ".0";
}

std::string hex(std::span<const std::uint8_t> bytes)
{
    std::string out(bytes.size() * 2, '0');
    bson::encode_hex(bytes, out.data());
    return out;
}

void put_binary(std::string& out, const bson::binary& value, std::size_t most)
{
    if (value.subtype == bson::binary_subtype::uuid && value.bytes.size() == 16) {
        if (const auto id = bson::uuid::from_binary(value)) {
            out += "UUID(\"" + id->to_string() + "\")";
            return;
        }
    }
    out += "BinData(" + std::to_string(static_cast<int>(value.subtype)) + ", " +
           hex(value.bytes.first(std::min(value.bytes.size(), most / 2))) + ")";
}

void put_scoped(std::string& out, const bson::element& e)
{
    const auto code = e.as_code_with_scope();
    out += "CodeWScope( " + (code ? std::string{code->source} : std::string{}) + ", {})";
}

void put_value(std::string& out, const bson::element& e, const limits& most, int depth)
{
    switch (e.type()) {
    case bson::type::invalid:
        out += "?";
        return;
    case bson::type::double_:
        return put_double(out, e.as_double());
    case bson::type::string:
    case bson::type::symbol:
        return put_quoted(out, e.as_string(), most.text);
    case bson::type::document:
        return put_fields(out, e.as_document(), true, most, depth);
    case bson::type::array:
        return put_fields(out, e.as_document(), false, most, depth);
    case bson::type::binary:
        return put_binary(out, e.as_binary(), most.text);
    case bson::type::undefined:
        out += "undefined";
        return;
    case bson::type::object_id:
        out += "ObjectId('" + e.as_object_id().to_string() + "')";
        return;
    case bson::type::boolean:
        out += e.as_bool() ? "true" : "false";
        return;
    case bson::type::datetime:
        out += "new Date(" + std::to_string(e.as_datetime().time_since_epoch().count()) + ")";
        return;
    case bson::type::null:
        out += "null";
        return;
    case bson::type::regex: {
        const bson::regex value = e.as_regex();
        out += '/';
        out += value.pattern;
        out += '/';
        out += value.options;
        return;
    }
    case bson::type::db_pointer:
        out += "DBRef(...)";
        return;
    case bson::type::code:
        out += e.as_string();
        return;
    case bson::type::code_with_scope:
        return put_scoped(out, e);
    case bson::type::int32:
        out += std::to_string(e.as_int32());
        return;
    case bson::type::timestamp:
        out += "Timestamp(" + std::to_string(e.as_timestamp().seconds) + ", " +
               std::to_string(e.as_timestamp().increment) + ")";
        return;
    case bson::type::int64:
        out += std::to_string(e.as_int64());
        return;
    case bson::type::decimal128:
        out += e.as_decimal128().to_string();
        return;
    case bson::type::max_key:
        out += "MaxKey";
        return;
    case bson::type::min_key:
        out += "MinKey";
        return;
    }
}

}  // namespace

std::string shell_text(bson::view document)
{
    std::string out;
    put_fields(out, document, true, nearly_all, 1);
    return out;
}

std::string shell_text_of(bson::view document)
{
    std::string out;
    put_fields(out, document, true, briefly, 1);
    return out;
}

std::string shell_text_of(const bson::element& field)
{
    std::string out{field.key()};
    out += ": ";
    put_value(out, field, briefly, 1);
    return out;
}

}  // namespace holdfast::lab
