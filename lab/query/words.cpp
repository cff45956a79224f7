#include "lab/query/words.hpp"

#include "lab/query/type_set.hpp"

#include <charconv>

namespace holdfast::lab::filter {

namespace {

using bson::type;

constexpr int deepest = 5;
constexpr std::size_t longest = 200;

std::string value_words(const bson::element& e, int depth);

std::string number_words(double number)
{
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    std::string made{text, end};
    if (made.find_first_of(".e") == made.npos)
        made += ".0";
    return made;
}

std::string inside_words(bson::view from, bool names, int depth)
{
    std::string made = names ? "{ " : "[ ";
    const char* between = "";
    for (const bson::element& e : from) {
        if (depth > deepest || made.size() > longest)
            return made + between + "... " + (names ? "}" : "]");
        made += between;
        if (names)
            made.append(e.key()).append(": ");
        made += value_words(e, depth + 1);
        between = ", ";
    }
    if (from.empty())
        return names ? "{}" : "[]";
    return made + (names ? " }" : " ]");
}

std::string value_words(const bson::element& e, int depth)
{
    switch (e.type()) {
    case type::double_:
        return number_words(e.as_double());
    case type::int32:
        return std::to_string(e.as_int32());
    case type::int64:
        return std::to_string(e.as_int64());
    case type::decimal128:
        return e.as_decimal128().to_string();
    case type::boolean:
        return e.as_bool() ? "true" : "false";
    case type::string:
        return "\"" + std::string{e.as_string().substr(0, longest)} + "\"";
    case type::object_id:
        return "ObjectId('" + e.as_object_id().to_string() + "')";
    case type::document:
        return inside_words(e.as_document(), true, depth);
    case type::array:
        return inside_words(e.as_document(), false, depth);
    case type::regex:
        return "/" + std::string{e.as_regex().pattern} + "/" + std::string{e.as_regex().options};
    case type::invalid:
    case type::binary:
    case type::undefined:
    case type::datetime:
    case type::null:
    case type::db_pointer:
    case type::code:
    case type::symbol:
    case type::code_with_scope:
    case type::timestamp:
    case type::max_key:
    case type::min_key:
        break;
    }
    return std::string{name_of_type(e.type())};
}

}  // namespace

std::string in_words(const bson::element& e)
{
    return std::string{e.key()} + ": " + value_words(e, 0);
}

}  // namespace holdfast::lab::filter
