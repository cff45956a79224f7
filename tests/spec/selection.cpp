#include "case_fields.hpp"
#include "core/mongo/select/snapshot.hpp"
#include "core/mongo/settings/address.hpp"
#include "format.hpp"
#include "topology_fields.hpp"

#include <algorithm>

namespace holdfast::spec {
namespace {

using namespace core::mongo;
namespace json = boost::json;
using addresses = std::vector<std::string>;

read_preference preference_from(const json::value& fields)
{
    const case_fields from{fields};
    from.demand_only({"mode", "tag_sets", "maxStalenessSeconds"});
    read_preference made;
    if (const auto name = from.text_if("mode")) {
        const auto mode = parse_read_mode(*name);
        demand(mode.has_value(), "the runner does not know this mode: " + std::string{*name});
        made.mode = *mode;
    }
    if (const std::int64_t seconds = from.number("maxStalenessSeconds", -1); seconds != -1)
        made.max_staleness = std::chrono::seconds{seconds};
    if (!from.has("tag_sets"))
        return made;
    for (const json::value& tags : from.list("tag_sets")) {
        tag_set& set = made.tag_sets.emplace_back();
        for (const auto& tag : tags.as_object())
            set.emplace(tag.key(), tag.value().as_string());
    }
    return made;
}

operation_kind operation_kind_named(std::string_view name)
{
    demand(name == "read" || name == "write", "no kind of operation: " + std::string{name});
    return name == "read" ? operation_kind::read : operation_kind::write;
}

addresses listed(const json::array& servers)
{
    addresses all;
    for (const json::value& s : servers)
        all.push_back(reported_address(s.at("address").as_string()).value());
    std::ranges::sort(all);
    return all;
}

addresses listed(std::span<const server_ptr> servers)
{
    addresses all;
    for (const server_ptr& s : servers)
        all.push_back(s->address.value());
    std::ranges::sort(all);
    return all;
}

void demand_same(const addresses& expected, const addresses& found, std::string_view what)
{
    const auto joined = [](const addresses& all) {
        std::string text;
        for (const std::string& one : all)
            text += " " + one;
        return text;
    };
    demand(expected == found,
           std::string{what} + ": expected" + joined(expected) + ", found" + joined(found));
}

/// What an operation would really use: the prepared answers, or the walk they stand for.
addresses from_snapshot(const topology_ptr& t, const selection_request& request,
                        const selection_settings& settings)
{
    const selection_snapshot snapshot{t, settings};
    const auto found = snapshot.candidates(request);
    demand(found.has_value(), "the snapshot refuses what the topology allows");
    addresses all;
    for (const std::uint32_t at : *found)
        all.push_back(t->servers.at(at)->address.value());
    std::ranges::sort(all);
    return all;
}

outcome run_selection(const json::object& file)
{
    const json::value whole = file;
    const case_fields fields{whole};
    fields.demand_only({"description", "topology_description", "operation", "read_preference",
                        "deprioritized_servers", "heartbeatFrequencyMS", "suitable_servers",
                        "in_latency_window", "error"});
    const topology_ptr topology = topology_from(file.at("topology_description"));
    std::vector<endpoint> avoided;
    if (fields.has("deprioritized_servers"))
        for (const std::string& address : listed(fields.list("deprioritized_servers")))
            avoided.emplace_back(address);
    const selection_request request{
        .kind = operation_kind_named(fields.text_if("operation").value_or("read")),
        .preference = preference_from(file.at("read_preference")),
        .deprioritised = avoided};
    selection_settings settings;
    settings.heartbeat_frequency = std::chrono::milliseconds{
        fields.number("heartbeatFrequencyMS", 10'000)};
    const auto suitable = suitable_servers(*topology, request, settings);
    if (fields.flag("error", false)) {
        demand(!suitable, "the selection was not refused");
        return passed{};
    }
    demand(suitable.has_value(), suitable ? "" : suitable.error().message());
    demand_same(listed(fields.list("suitable_servers")), listed(*suitable), "suitable servers");
    const auto expected = listed(fields.list("in_latency_window"));
    demand_same(expected, listed(in_latency_window(*suitable, settings.local_threshold)),
                "in the latency window");
    demand_same(expected, from_snapshot(topology, request, settings), "from the snapshot");
    return passed{};
}

bool is_selection(const json::object& file)
{
    return file.contains("topology_description") && file.contains("read_preference");
}
bool recognises_logic(const json::object& file)
{
    return is_selection(file) && file.contains("operation");
}
bool recognises_staleness(const json::object& file)
{
    return is_selection(file) && !file.contains("operation");
}

/// The files have no description; what is asked of what stands in for it.
std::vector<test_case> selection_cases(const json::object& file)
{
    const json::value* const operation = file.if_contains("operation");
    std::string what = operation ? std::string{operation->as_string()} + " " : "";
    what += json::serialize(file.at("read_preference"));
    if (file.contains("deprioritized_servers"))
        what += " with deprioritized servers";
    return {{std::move(what), [&file](const settings&) { return run_selection(file); }}};
}

}  // namespace

const format server_selection{"server-selection", recognises_logic, selection_cases};
const format max_staleness{"max-staleness", recognises_staleness, selection_cases};

}  // namespace holdfast::spec
