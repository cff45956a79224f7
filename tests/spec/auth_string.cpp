#include "uri_case.hpp"

namespace holdfast::spec {
namespace {

namespace json = boost::json;

outcome run_auth_string(const json::value& c, const settings& options)
{
    const json::object& fields = c.as_object();
    demand_only(fields, {"description", "uri", "valid", "credential"});
    const auto parsed = parse_as_expected(fields, options);
    if (!parsed)
        return passed{};
    const auto& found = parsed->settings.credential;
    const json::value* const expected = stated(fields, "credential");
    demand(found.has_value() == (expected != nullptr),
           found ? "there is a credential" : "there is no credential");
    if (!expected)
        return passed{};
    const json::object& wanted = expected->as_object();
    demand_only(wanted, {"username", "password", "source", "mechanism", "mechanism_properties"});
    demand_equal(found->username, stated_text(wanted, "username"), "username");
    demand_equal(text_of(found->password), stated_text(wanted, "password"), "password");
    demand_equal(found->source, stated_text(wanted, "source"), "source");
    demand_equal(found->mechanism, stated_text(wanted, "mechanism"), "mechanism");
    std::map<std::string, std::string> properties;
    if (const json::value* given = stated(wanted, "mechanism_properties"))
        for (const auto& [name, value] : given->as_object())
            properties.emplace(name, as_written(value).front());
    demand(found->properties == properties, "the mechanism properties differ");
    return passed{};
}

bool recognises_auth_string(const json::object& file)
{
    return any_case_has(file, "uri") && any_case_has(file, "credential");
}

std::vector<test_case> auth_string_cases(const json::object& file)
{
    demand_only(file, {"tests"});
    return each_case(file, run_auth_string);
}

}  // namespace

const format auth_string{"auth-connection-string", recognises_auth_string, auth_string_cases};

}  // namespace holdfast::spec
