#include "core/couchbase/config/read_json.hpp"

#include "core/couchbase/config/cluster_config.hpp"
#include "core/uri/host.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

namespace holdfast::core::couchbase {

namespace json = boost::json;

error bad_config(const std::string& path, std::string_view what)
{
    return error{holdfast::couchbase::errc::decoding_failure,
                 "cluster configuration: " + (path.empty() ? "" : path + ": ") + std::string{what}}
        .with_context("path", path);
}

std::string element(std::string_view list, std::size_t index)
{
    return std::string{list} + '[' + std::to_string(index) + ']';
}

namespace {

result<std::string> name_in(const json::value& value, const std::string& path)
{
    const json::string* const text = value.if_string();
    if (!text)
        return bad_config(path, "it is no string");
    if (text->size() > max_name_bytes)
        return bad_config(path, "longer than " + std::to_string(max_name_bytes) + " bytes");
    return std::string{text->data(), text->size()};
}

std::string_view without_brackets(std::string_view host) noexcept
{
    const bool in_brackets = host.starts_with('[') && host.ends_with(']');
    return in_brackets ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

result<std::string> read_name(const json::value& object, std::string_view member,
                              const std::string& path)
{
    const json::object* const members = object.if_object();
    const json::value* const value = members ? members->if_contains(member) : nullptr;
    if (!value || value->is_null())
        return std::string{};
    return name_in(*value, (path.empty() ? "" : path + '.') + std::string{member});
}

result<void> read_names(const json::value* list, const std::string& prefix, const std::string& path,
                        std::vector<std::string>& to)
{
    if (!list)
        return {};
    const json::array* const names = list->if_array();
    if (!names)
        return bad_config(path, "it is no array");
    if (names->size() + to.size() > max_capabilities)
        return bad_config(path, "more than " + std::to_string(max_capabilities) + " names");
    for (std::size_t i = 0; i < names->size(); ++i) {
        auto name = name_in((*names)[i], element(path, i));
        if (!name)
            return std::move(name).error();
        to.push_back(prefix + *name);
    }
    return {};
}

result<config_address> read_address(std::string_view text, std::string_view origin,
                                    const std::string& path)
{
    constexpr std::string_view placeholder = "$HOST";
    if (text.starts_with(placeholder)) {
        config_address made{.host = uri::lower_case_host(without_brackets(origin))};
        text.remove_prefix(placeholder.size());
        if (text.empty())
            return made;
        made.port = text.front() == ':' ? uri::parse_port(text.substr(1)) : std::nullopt;
        if (!made.port)
            return bad_config(path, "after $HOST stands ':' and a port from 1 to 65535");
        return made;
    }
    // Servers write an IPv6 address in brackets where a port follows, and without where none does.
    if (uri::looks_like_ipv6(text) && uri::host_problem(text).empty())
        return config_address{.host = uri::lower_case_host(text)};
    auto parts = uri::split_host(text);
    if (!parts.problem.empty())
        return bad_config(path, parts.problem);
    return config_address{std::move(parts.host), parts.port};
}

}  // namespace holdfast::core::couchbase
