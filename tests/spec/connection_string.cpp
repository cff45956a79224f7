#include "core/mongo/settings/address.hpp"
#include "core/mongo/uri/option_table.hpp"
#include "uri_case.hpp"

#include <boost/asio/ip/address_v4.hpp>

#include <algorithm>

namespace holdfast::spec {
namespace {

namespace json = boost::json;

std::string kind_of(const core::mongo::address_parts& parts)
{
    if (parts.port == 0)
        return "unix";
    if (parts.host.find(':') != std::string::npos)
        return "ip_literal";
    // As the library decides it: 256.0.0.1 is a name, which DNS may know.
    boost::system::error_code no_address;
    (void)boost::asio::ip::make_address_v4(parts.host, no_address);
    return no_address ? "hostname" : "ipv4";
}

std::string in_lower_case(std::string text)
{
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

void check_hosts(const json::array& expected, const std::vector<endpoint>& found)
{
    demand(found.size() == expected.size(), "expected " + std::to_string(expected.size()) +
                                                " hosts, found " + std::to_string(found.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const core::mongo::address_parts parts = core::mongo::parts_of(found[i]);
        const json::object& wanted = expected[i].as_object();
        demand_only(wanted, {"type", "host", "port"});
        const bool is_path = parts.port == 0;
        const std::string host{wanted.at("host").as_string()};
        demand_equal(kind_of(parts), stated_text(wanted, "type"), "type of host");
        demand_equal(parts.host, is_path ? host : in_lower_case(host), "host");
        const json::value* const port = stated(wanted, "port");
        const std::int64_t expected_port = port ? port->as_int64()
                                                : (is_path ? 0 : core::mongo::default_port);
        demand(parts.port == expected_port, "port: found " + std::to_string(parts.port));
    }
}

void check_auth(const json::object& expected, const core::mongo::client_settings& found)
{
    demand_only(expected, {"username", "password", "db"});
    const core::mongo::credential who = found.credential.value_or(core::mongo::credential{});
    demand_equal(who.username, stated_text(expected, "username"), "username");
    demand_equal(text_of(who.password), stated_text(expected, "password"), "password");
    demand_equal(found.database, stated_text(expected, "db"), "database");
}

void check_options(const json::object& expected, const core::mongo::client_settings& found)
{
    for (const auto& [name, value] : expected) {
        const core::mongo::option_alias* const alias = core::mongo::option_table().find_alias(name);
        const core::mongo::option* const which = core::mongo::find_option(
            alias ? alias->stands_for : std::string_view{name});
        demand(which != nullptr, "there is no option " + std::string{name});
        const auto wanted = as_written(value);
        const auto got = core::mongo::written(*which, found);
        std::string shown;
        for (const std::string& text : got)
            shown += ' ' + text;
        demand(got == wanted,
               std::string{name} + ": expected " + json::serialize(value) + ", found" + shown);
    }
}

outcome run_connection_string(const json::value& c, const settings& run)
{
    const json::object& fields = c.as_object();
    demand_only(fields, {"description", "uri", "valid", "warning", "hosts", "auth", "options"});
    const auto parsed = parse_as_expected(fields, run);
    if (!parsed)
        return passed{};
    check_warning(fields, *parsed);
    if (const json::value* hosts = stated(fields, "hosts"))
        check_hosts(hosts->as_array(), parsed->settings.seeds);
    if (const json::value* auth = stated(fields, "auth"))
        check_auth(auth->as_object(), parsed->settings);
    if (const json::value* options = stated(fields, "options"))
        check_options(options->as_object(), parsed->settings);
    return passed{};
}

bool recognises_connection_string(const json::object& file)
{
    return any_case_has(file, "uri") && any_case_has(file, "options");
}

std::vector<test_case> connection_string_cases(const json::object& file)
{
    demand_only(file, {"tests"});
    return each_case(file, run_connection_string);
}

}  // namespace

/// Also the format of the tests of URI options, which differ in nothing but what they are about.
const format connection_string{"connection-string", recognises_connection_string,
                               connection_string_cases};

}  // namespace holdfast::spec
