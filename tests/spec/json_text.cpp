#include "json_text.hpp"

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>

#include <charconv>

namespace holdfast::spec {
namespace {

using boost::json::error_code;

/// Receives what the parser finds and writes it again.
struct rewriter {
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);

    std::string out;
    std::string token;  // the parts of the present string, key or number

    bool add(std::string_view text)
    {
        out += text;
        return true;
    }
    bool part(std::string_view text)
    {
        token += text;
        return true;
    }
    bool add_quoted(std::string_view last_part, std::string_view after)
    {
        token += last_part;
        out += boost::json::serialize(boost::json::string_view{token});
        out += after;
        token.clear();
        return true;
    }
    bool add_integer(std::string_view last_part)
    {
        token += last_part;
        out += token == "-0" ? "0" : token;
        out += ',';
        token.clear();
        return true;
    }
    /// Boost.JSON 1.81 rounds some numbers wrongly in the last bit, so they are read again.
    bool add_double(std::string_view last_part)
    {
        token += last_part;
        double value = 0;
        std::from_chars(token.data(), token.data() + token.size(), value);
        char text[64];
        const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::hex).ptr;
        out.append("double ").append(text, end) += ',';
        token.clear();
        return true;
    }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_array_begin(error_code&) { return add("["); }
    bool on_array_end(std::size_t, error_code&) { return add("],"); }
    bool on_object_begin(error_code&) { return add("{"); }
    bool on_object_end(std::size_t, error_code&) { return add("},"); }
    bool on_string_part(std::string_view s, std::size_t, error_code&) { return part(s); }
    bool on_string(std::string_view s, std::size_t, error_code&) { return add_quoted(s, ","); }
    bool on_key_part(std::string_view s, std::size_t, error_code&) { return part(s); }
    bool on_key(std::string_view s, std::size_t, error_code&) { return add_quoted(s, ":"); }
    bool on_number_part(std::string_view s, error_code&) { return part(s); }
    bool on_int64(std::int64_t, std::string_view s, error_code&) { return add_integer(s); }
    bool on_uint64(std::uint64_t, std::string_view s, error_code&) { return add_integer(s); }
    bool on_double(double, std::string_view s, error_code&) { return add_double(s); }
    bool on_bool(bool b, error_code&) { return add(b ? "true," : "false,"); }
    bool on_null(error_code&) { return add("null,"); }
    bool on_comment_part(std::string_view, error_code&) { return true; }
    bool on_comment(std::string_view, error_code&) { return true; }
};

}  // namespace

std::optional<std::string> normalise_json(std::string_view text)
{
    boost::json::parse_options strict;
    strict.max_depth = 512;  // deeper than any document that Holdfast prints
    boost::json::basic_parser<rewriter> parser{strict};
    error_code ec;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
    if (ec || used != text.size())
        return std::nullopt;
    return parser.handler().out;
}

}  // namespace holdfast::spec
