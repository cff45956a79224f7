#include "uri_case.hpp"

#include <algorithm>
#include <map>

namespace holdfast::spec {

namespace json = boost::json;

bool any_case_has(const json::object& file, std::string_view field)
{
    const json::value* const tests = file.if_contains("tests");
    return tests && tests->is_array() &&
           std::ranges::any_of(tests->get_array(), [&](const json::value& c) {
               return c.is_object() && c.get_object().contains(field);
           });
}

std::vector<test_case> each_case(const json::object& file, case_runner run)
{
    std::vector<test_case> all;
    for (const json::value& fields : file.at("tests").as_array())
        all.push_back({description_of(fields),
                       [&fields, run](const settings& options) { return run(fields, options); },
                       &fields});
    return all;
}

const json::value* stated(const json::object& fields, std::string_view name)
{
    const json::value* const found = fields.if_contains(name);
    return found && !found->is_null() ? found : nullptr;
}

std::optional<bool> stated_flag(const json::object& fields, std::string_view name)
{
    const json::value* const found = stated(fields, name);
    return found ? std::optional{found->as_bool()} : std::nullopt;
}

std::optional<std::string> stated_text(const json::object& fields, std::string_view name)
{
    const json::value* const found = stated(fields, name);
    return found ? std::optional{std::string{found->as_string()}} : std::nullopt;
}

std::optional<std::string> text_of(const std::optional<secret>& kept)
{
    return kept ? std::optional{std::string{kept->view()}} : std::nullopt;
}

void demand_equal(const std::optional<std::string>& found,
                  const std::optional<std::string>& expected, std::string_view what)
{
    const auto shown = [](const std::optional<std::string>& text) {
        return text ? '"' + *text + '"' : std::string{"nothing"};
    };
    demand(found == expected,
           std::string{what} + ": expected " + shown(expected) + ", found " + shown(found));
}

namespace {

std::string one_text(const json::value& value)
{
    if (value.is_string())
        return std::string{value.get_string()};
    if (value.is_object()) {
        std::map<std::string, std::string> sorted;
        for (const auto& [name, inner] : value.get_object())
            sorted.emplace(name, one_text(inner));
        std::string text;
        for (const auto& [name, inner] : sorted)
            text += (text.empty() ? "" : ",") + name + ':' + inner;
        return text;
    }
    return json::serialize(value);
}

}  // namespace

std::vector<std::string> as_written(const json::value& value)
{
    const json::array* const list = value.if_array();
    if (!list)
        return {one_text(value)};
    std::vector<std::string> texts;
    for (const json::value& item : *list)
        texts.push_back(one_text(item));
    const bool of_objects = std::ranges::all_of(*list, &json::value::is_object);
    if (of_objects)
        return texts;
    std::string joined;
    for (const std::string& text : texts)
        joined += (joined.empty() ? "" : ",") + text;
    return {joined};
}

std::optional<core::mongo::parsed_uri> parse_as_expected(const json::object& fields,
                                                         const settings& options)
{
    std::string text{fields.at("uri").as_string()};
    if (options.profile != settings{}.profile)  // as a user would choose it
        text += (text.find('?') == text.npos ? "?" : "&") +
                ("resilienceProfile=" + std::string{options.profile});
    auto parsed = core::mongo::parse_uri(text);
    const bool valid = fields.at("valid").as_bool();
    demand(valid || !parsed, "the connection string was accepted");
    demand(!valid || parsed.has_value(), parsed ? "" : parsed.error().explain());
    if (!parsed)
        return std::nullopt;
    return *std::move(parsed);
}

void check_warning(const json::object& fields, const core::mongo::parsed_uri& parsed)
{
    const auto expected = stated_flag(fields, "warning");
    if (!expected)
        return;
    demand(!*expected || !parsed.warnings.empty(), "there was no warning");
    for (const std::string& warning : parsed.warnings)
        demand(*expected, "unexpected warning: " + warning);
}

}  // namespace holdfast::spec
