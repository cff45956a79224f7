#include "lab/couchbase/data/json_check.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

/// Deeper documents are stored, but not as JSON: the parser is recursive.
constexpr std::size_t deepest_json = 500;

/// Takes every event of the parser and keeps nothing.
struct ignoring_handler {
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) { return true; }
    bool on_object_end(std::size_t, json::error_code&) { return true; }
    bool on_array_begin(json::error_code&) { return true; }
    bool on_array_end(std::size_t, json::error_code&) { return true; }
    bool on_key_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_key(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
    bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
    bool on_double(double, json::string_view, json::error_code&) { return true; }
    bool on_bool(bool, json::error_code&) { return true; }
    bool on_null(json::error_code&) { return true; }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }
};

}  // namespace

json_state check_json(std::string_view text, std::size_t max_depth)
{
    json::parse_options limits;
    limits.max_depth = max_depth;
    json::basic_parser<ignoring_handler> parser{limits};
    json::error_code problem;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), problem);
    if (problem == json::error::too_deep)
        return json_state::too_deep;
    const bool whole = !problem && parser.done() &&
                       text.find_first_not_of(" \t\r\n", read) == text.npos;
    return whole ? json_state::valid : json_state::invalid;
}

bool is_json(std::string_view text)
{
    return check_json(text, deepest_json) == json_state::valid;
}

std::string quoted(std::string_view content)
{
    return json::serialize(json::string_view{content.data(), content.size()});
}

std::string unquoted(std::string_view json_string)
{
    if (json_string.find('\\') == json_string.npos)
        return std::string{json_string.substr(1, json_string.size() - 2)};
    json::error_code problem;
    const json::value read = json::parse({json_string.data(), json_string.size()}, problem);
    const json::string* const text = problem ? nullptr : read.if_string();
    return text ? std::string{text->data(), text->size()} : std::string{};
}

}  // namespace holdfast::lab::couchbase
