#include "core/couchbase/retry/json_text.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <boost/json/parser.hpp>

#include <string>

namespace holdfast::core::couchbase {

namespace json = boost::json;
using holdfast::couchbase::errc;

result<json::value> parse_json(std::string_view text, const json_limits& limits)
{
    if (text.size() > limits.max_bytes)
        return error{errc::decoding_failure, "JSON of " + std::to_string(text.size()) +
                                                 " bytes; the limit is " +
                                                 std::to_string(limits.max_bytes)};
    json::parse_options options;
    options.max_depth = limits.max_depth;
    json::parser parser{{}, options};
    parser.reset(limits.memory);
    json::error_code problem;
    const std::size_t read = parser.write(text.data(), text.size(), problem);
    if (problem)
        return error{errc::decoding_failure,
                     "invalid JSON at byte " + std::to_string(read) + ": " + problem.message()}
            .with_context("offset", std::to_string(read));
    return parser.release();
}

namespace {

const json::value* find(const json::value& value, std::string_view name)
{
    const json::object* const object = value.if_object();
    return object ? object->if_contains(name) : nullptr;
}

}  // namespace

const json::string* find_string(const json::value& value, std::string_view name)
{
    const json::value* const member = find(value, name);
    return member ? member->if_string() : nullptr;
}

const json::array* find_array(const json::value& value, std::string_view name)
{
    const json::value* const member = find(value, name);
    return member ? member->if_array() : nullptr;
}

const json::object* find_object(const json::value& value, std::string_view name)
{
    const json::value* const member = find(value, name);
    return member ? member->if_object() : nullptr;
}

const std::int64_t* find_integer(const json::value& value, std::string_view name)
{
    const json::value* const member = find(value, name);
    return member ? member->if_int64() : nullptr;
}

const bool* find_bool(const json::value& value, std::string_view name)
{
    const json::value* const member = find(value, name);
    return member ? member->if_bool() : nullptr;
}

}  // namespace holdfast::core::couchbase
