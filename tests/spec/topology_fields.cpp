#include "topology_fields.hpp"

#include "case_fields.hpp"
#include "core/mongo/settings/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace holdfast::spec {

using namespace core::mongo;
namespace json = boost::json;

namespace {

template <class Enum>
Enum named(std::string_view name, Enum last)
{
    for (int i = 0; i <= static_cast<int>(last); ++i)
        if (name_of(static_cast<Enum>(i)) == name)
            return static_cast<Enum>(i);
    throw case_failure{"the runner does not know this type: " + std::string{name}};
}

std::int64_t long_number(const json::value& fields)
{
    const json::string& digits = fields.at("$numberLong").as_string();
    std::int64_t number = 0;
    const auto end = std::from_chars(digits.begin(), digits.end(), number).ptr;
    demand(end == digits.end(), "$numberLong is no number");
    return number;
}

std::chrono::nanoseconds milliseconds(const json::value& number)
{
    return std::chrono::nanoseconds{std::llround(number.to_number<double>() * 1e6)};
}

server_ptr server_from(const json::value& fields)
{
    const json::object& from = fields.as_object();
    demand_only(from, {"address", "type", "avg_rtt_ms", "tags", "lastUpdateTime", "lastWrite",
                       "maxWireVersion", "minWireVersion"});
    server_description s;
    s.address = reported_address(from.at("address").as_string());
    s.type = named(from.at("type").as_string(), server_type::load_balancer);
    if (const json::value* const rtt = from.if_contains("avg_rtt_ms"))
        s.round_trip_time = milliseconds(*rtt);
    if (const json::value* const tags = from.if_contains("tags"))
        for (const auto& tag : tags->as_object())
            s.tags.emplace(tag.key(), tag.value().as_string());
    if (const json::value* const updated = from.if_contains("lastUpdateTime"))
        s.last_update_time = time_point{milliseconds(*updated)};
    if (const json::value* const written = from.if_contains("lastWrite"))
        s.last_write_date = bson::datetime{
            std::chrono::milliseconds{long_number(written->at("lastWriteDate"))}};
    return std::make_shared<const server_description>(std::move(s));
}

}  // namespace

topology_ptr topology_from(const json::value& fields)
{
    demand_only(fields.as_object(), {"type", "servers"});
    topology_description t;
    t.type = named(fields.at("type").as_string(), topology_type::load_balanced);
    for (const json::value& one : fields.at("servers").as_array())
        t.servers.push_back(server_from(one));
    std::ranges::sort(t.servers, {}, [](const server_ptr& s) { return s->address; });
    return std::make_shared<const topology_description>(std::move(t));
}

}  // namespace holdfast::spec
