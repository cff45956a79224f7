#include "lab/couchbase/map/service_names.hpp"

#include <algorithm>

namespace holdfast::lab::couchbase {

namespace {

struct service_name {
    std::string_view in_configurations;
    std::string_view of_people;
};

constexpr std::string_view management = "mgmt";

constexpr service_name service_names[] = {
    {"kv", "data"},        {"capi", "views"},     {"n1ql", "query"},
    {"fts", "search"},     {"cbas", "analytics"}, {management, "management"},
};

}  // namespace

std::optional<std::string> service_named(std::string_view name)
{
    for (const service_name& one : service_names) {
        if (one.in_configurations == name || one.of_people == name)
            return std::string{one.in_configurations};
    }
    return std::nullopt;
}

std::optional<service_set> read_services(std::string_view list)
{
    service_set made;
    for (;;) {
        const std::size_t end = std::min(list.find(','), list.size());
        auto name = service_named(list.substr(0, end));
        if (!name || *name == management)
            return std::nullopt;
        made.insert(*std::move(name));
        if (end == list.size())
            return made;
        list.remove_prefix(end + 1);
    }
}

std::string text_of(const service_set& services)
{
    std::string text;
    for (const std::string& one : services)
        text += (text.empty() ? "" : ",") + one;
    return text;
}

service_set all_services()
{
    service_set made;
    for (const service_name& one : service_names) {
        if (one.in_configurations != management)
            made.emplace(one.in_configurations);
    }
    return made;
}

}  // namespace holdfast::lab::couchbase
