#include "core/bson/base64.hpp"
#include "core/bson/hex.hpp"
#include "core/bson/iso_date.hpp"
#include "core/bson/json_number.hpp"
#include "core/bson/json_writer.hpp"
#include "core/bson/quote.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace holdfast::bson {

namespace {

constexpr std::size_t max_integer_text = 20;

/// The keys of an array are not printed, so they are unchecked when they come into a path.
std::string part_of_path(std::string_view key)
{
    return is_utf8(key) ? std::string{key} : quote(key);
}

/// One run over a document. Functions give false after an error, which error() then returns.
class json_printer {
public:
    json_printer(std::string& out, view document, json_mode mode)
        : out_{out, 2 * document.size() + 64},
          begin_{document.data()},
          end_{reinterpret_cast<const char*>(document.data()) + document.size()},
          relaxed_{mode == json_mode::relaxed}
    {
    }

    result<void> print_document(view document) { return finish(print(document, 1)); }
    result<void> print_array(array_view array) { return finish(print(array, 1)); }

private:
    result<void> finish(bool good);
    bool print(view document, int depth);
    bool print(array_view array, int depth);
    bool value(const element& e, int depth);
    bool nested(const element& e, bool good);

    bool text(const element& e, std::string_view text);
    bool boolean(const element& e);
    bool binary_value(const element& e);
    bool regex_value(const element& e);
    bool db_pointer_value(const element& e);
    bool code_with_scope_value(const element& e, int depth);
    void double_value(double value);
    void datetime_value(datetime when);
    void timestamp_value(timestamp value);
    void object_id_value(const object_id& id);
    void decimal_value(const decimal128& value);
    void integer(std::int64_t value);
    template <std::size_t N>
    bool wrapped_text(const char (&opening)[N], const element& e)
    {
        out_.literal(opening);
        return text(e, e.as_string()) && closed();
    }
    template <std::size_t N>
    void wrapped_integer(const char (&opening)[N], std::int64_t value);
    bool closed()
    {
        out_.put('}');
        return true;
    }

    bool check_depth(const std::uint8_t* at, int depth);
    bool fail(const element& e, errc what, std::string why);
    bool fail(const std::uint8_t* at, errc what, std::string why);

    json_writer out_;
    const std::uint8_t* begin_;  // of the outermost document, which holds all text
    const char* end_;
    bool relaxed_;

    // Of the first error; the path grows on the way out.
    errc fault_ = errc::malformed;
    std::size_t fault_offset_ = 0;
    std::string fault_why_;
    std::string fault_path_;
};

result<void> json_printer::finish(bool good)
{
    if (good) {
        out_.keep();
        return {};
    }
    const std::string offset = std::to_string(fault_offset_);
    const std::string subject = fault_path_.empty() ? "" : fault_path_ + ": ";
    error e = error{fault_, subject + fault_why_ + ", at offset " + offset}.with_context("offset",
                                                                                         offset);
    if (!fault_path_.empty())
        e = std::move(e).with_context("path", fault_path_);
    return e;
}

bool json_printer::print(view document, int depth)
{
    if (!check_depth(document.data(), depth))
        return false;
    out_.put('{');
    for (const element& e : document) {
        if (e.malformed()) [[unlikely]]
            return fail(e.data(), errc::malformed, e.fault());
        if (!out_.string(e.key(), end_)) [[unlikely]]
            return fail(e.data(), errc::invalid_utf8, "the key " + quote(e.key()) + " is no UTF-8");
        out_.put(':');
        if (!value(e, depth)) [[unlikely]]
            return false;
        out_.put(',');
    }
    if (document.empty())
        out_.put('}');
    else
        out_.replace_last('}');
    return true;
}

bool json_printer::print(array_view array, int depth)
{
    if (!check_depth(array.bytes().data(), depth))
        return false;
    out_.put('[');
    for (const element& e : array) {
        if (e.malformed()) [[unlikely]]
            return fail(e.data(), errc::malformed, e.fault());
        if (!value(e, depth)) [[unlikely]]
            return false;
        out_.put(',');
    }
    if (array.empty())
        out_.put(']');
    else
        out_.replace_last(']');
    return true;
}

bool json_printer::value(const element& e, int depth)
{
    switch (e.type()) {
    case type::invalid: return fail(e, errc::malformed, "an element without a type");
    case type::double_: return double_value(e.as_double()), true;
    case type::string: return text(e, e.as_string());
    case type::document: return nested(e, print(e.as_document(), depth + 1));
    case type::array: return nested(e, print(e.as_array(), depth + 1));
    case type::binary: return binary_value(e);
    case type::undefined: return out_.literal(R"({"$undefined":true})"), true;
    case type::object_id: return object_id_value(e.as_object_id()), true;
    case type::boolean: return boolean(e);
    case type::datetime: return datetime_value(e.as_datetime()), true;
    case type::null: return out_.literal("null"), true;
    case type::regex: return regex_value(e);
    case type::db_pointer: return db_pointer_value(e);
    case type::code: return wrapped_text(R"({"$code":)", e);
    case type::symbol: return wrapped_text(R"({"$symbol":)", e);
    case type::code_with_scope: return code_with_scope_value(e, depth);
    case type::int32: return wrapped_integer(R"({"$numberInt":")", e.as_int32()), true;
    case type::timestamp: return timestamp_value(e.as_timestamp()), true;
    case type::int64: return wrapped_integer(R"({"$numberLong":")", e.as_int64()), true;
    case type::decimal128: return decimal_value(e.as_decimal128()), true;
    case type::max_key: return out_.literal(R"({"$maxKey":1})"), true;
    case type::min_key: return out_.literal(R"({"$minKey":1})"), true;
    }
    return fail(e, errc::malformed, "an element of unknown type");
}

/// On the way out of an error, each document around it puts its key in front of the path.
bool json_printer::nested(const element& e, bool good)
{
    if (!good) [[unlikely]]
        fault_path_ = part_of_path(e.key()) + (fault_path_.empty() ? "" : "." + fault_path_);
    return good;
}

bool json_printer::text(const element& e, std::string_view text)
{
    return out_.string(text, end_) || fail(e, errc::invalid_utf8, "the text is no UTF-8");
}

bool json_printer::boolean(const element& e)
{
    switch (e.value_bytes().front()) {
    case 0: return out_.literal("false"), true;
    case 1: return out_.literal("true"), true;
    default: return fail(e, errc::malformed, "a boolean that is neither 0 nor 1");
    }
}

bool json_printer::binary_value(const element& e)
{
    const binary value = e.as_binary();
    const bool whole = value.bytes.size() + 5 == e.value_bytes().size();
    if (value.subtype == binary_subtype::binary_old && whole)
        return fail(e, errc::malformed, "an old binary whose two lengths disagree");
    out_.literal(R"({"$binary":{"base64":")");
    out_.wrote(encode_base64(value.bytes, out_.room(base64_size(value.bytes.size()))));
    out_.literal(R"(","subType":")");
    const auto subtype = static_cast<std::uint8_t>(value.subtype);
    out_.wrote(encode_hex({&subtype, 1}, out_.room(2)));
    out_.literal(R"("}})");
    return true;
}

bool json_printer::regex_value(const element& e)
{
    const regex value = e.as_regex();
    out_.literal(R"({"$regularExpression":{"pattern":)");
    if (!text(e, value.pattern))
        return false;
    out_.literal(R"(,"options":)");
    // Some drivers wrote the letters in any order. The copy ends where it ends: nothing behind it
    // may be read, as it may behind text that lies in the document.
    std::string options{value.options};
    layout::sort_options({reinterpret_cast<std::uint8_t*>(options.data()), options.size()});
    if (!out_.string(options, options.data() + options.size()))
        return fail(e, errc::invalid_utf8, "the text is no UTF-8");
    return closed() && closed();
}

bool json_printer::db_pointer_value(const element& e)
{
    const auto read = e.as_db_pointer();
    if (!read)
        return fail(e, errc::malformed, "a DBPointer without a terminated name");
    out_.literal(R"({"$dbPointer":{"$ref":)");
    if (!text(e, read->collection))
        return false;
    out_.literal(R"(,"$id":)");
    object_id_value(read->id);
    return closed() && closed();
}

bool json_printer::code_with_scope_value(const element& e, int depth)
{
    const auto read = e.as_code_with_scope();
    if (!read)
        return fail(e, errc::malformed, "code with scope whose lengths disagree");
    out_.literal(R"({"$code":)");
    if (!text(e, read->source))
        return false;
    out_.literal(R"(,"$scope":)");
    return nested(e, print(read->scope, depth + 1)) && closed();
}

void json_printer::double_value(double value)
{
    const bool plain = relaxed_ && std::isfinite(value);
    if (!plain)
        out_.literal(R"({"$numberDouble":")");
    out_.wrote(print_double(value, out_.room(max_double_text)));
    if (!plain)
        out_.literal(R"("})");
}

void json_printer::datetime_value(datetime when)
{
    out_.literal(R"({"$date":)");
    if (relaxed_ && has_iso_text(when)) {
        out_.put('"');
        out_.wrote(print_iso_date(when, out_.room(max_iso_date)));
        out_.put('"');
    } else {
        out_.literal(R"({"$numberLong":")");
        integer(when.time_since_epoch().count());
        out_.literal(R"("})");
    }
    closed();
}

void json_printer::timestamp_value(timestamp value)
{
    out_.literal(R"({"$timestamp":{"t":)");
    integer(value.seconds);
    out_.literal(R"(,"i":)");
    integer(value.increment);
    out_.literal("}}");
}

void json_printer::object_id_value(const object_id& id)
{
    out_.literal(R"({"$oid":")");
    out_.wrote(encode_hex(id.bytes, out_.room(2 * id.bytes.size())));
    out_.literal(R"("})");
}

void json_printer::decimal_value(const decimal128& value)
{
    out_.literal(R"({"$numberDecimal":")");
    out_.wrote(value.print(out_.room(decimal128::max_text)));
    out_.literal(R"("})");
}

void json_printer::integer(std::int64_t value)
{
    char* const to = out_.room(max_integer_text);
    out_.wrote(std::to_chars(to, to + max_integer_text, value).ptr);
}

/// Canonical: inside its wrapper. Relaxed: plain.
template <std::size_t N>
void json_printer::wrapped_integer(const char (&opening)[N], std::int64_t value)
{
    if (relaxed_)
        return integer(value);
    out_.literal(opening);
    integer(value);
    out_.literal(R"("})");
}

bool json_printer::check_depth(const std::uint8_t* at, int depth)
{
    return depth <= max_depth ||
           fail(at, errc::too_deep,
                "nested deeper than " + std::to_string(max_depth) + " documents");
}

bool json_printer::fail(const element& e, errc what, std::string why)
{
    fault_path_ = part_of_path(e.key());
    return fail(e.data(), what, std::move(why));
}

bool json_printer::fail(const std::uint8_t* at, errc what, std::string why)
{
    fault_ = what;
    fault_offset_ = static_cast<std::size_t>(at - begin_);
    fault_why_ = std::move(why);
    return false;
}

}  // namespace

result<void> append_json(std::string& out, view document, json_mode mode)
{
    return json_printer{out, document, mode}.print_document(document);
}

result<std::string> to_json(view document, json_mode mode)
{
    std::string out;
    auto done = append_json(out, document, mode);
    if (!done)
        return std::move(done).error();
    return out;
}

result<std::string> to_json(array_view array, json_mode mode)
{
    std::string out;
    auto done = json_printer{out, array.as_document(), mode}.print_array(array);
    if (!done)
        return std::move(done).error();
    return out;
}

}  // namespace holdfast::bson
