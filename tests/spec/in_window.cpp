#include "case_fields.hpp"
#include "core/mongo/select/snapshot.hpp"
#include "core/mongo/settings/address.hpp"
#include "format.hpp"
#include "topology_fields.hpp"

#include <cmath>
#include <map>
#include <random>

namespace holdfast::spec {
namespace {

using namespace core::mongo;
namespace json = boost::json;

using counts = std::map<endpoint, std::int64_t>;

counts operation_counts(const json::array& states)
{
    counts all;
    for (const json::value& state : states) {
        demand_only(state.as_object(), {"address", "operation_count"});
        all[reported_address(state.at("address").as_string())] =
            state.at("operation_count").as_int64();
    }
    return all;
}

/// How often each server is chosen. Chance is drawn from a fixed seed: the same in every run.
counts choose_often(const topology_ptr& t, const counts& running, std::int64_t iterations)
{
    const selection_snapshot snapshot{t, {}};
    const auto candidates = snapshot.for_reads(read_mode::nearest);
    demand(!candidates.empty(), "no server is suitable");
    counts chosen;
    std::mt19937_64 chance{1};
    for (std::int64_t i = 0; i < iterations; ++i) {
        const std::uint32_t at = choose(candidates, chance(), [&](std::uint32_t position) {
            return running.at(t->servers[position]->address);
        });
        ++chosen[t->servers[at]->address];
    }
    return chosen;
}

outcome run_in_window(const json::object& file)
{
    demand_only(file, {"description", "topology_description", "mocked_topology_state", "iterations",
                       "outcome"});
    const topology_ptr topology = topology_from(file.at("topology_description"));
    const counts running = operation_counts(file.at("mocked_topology_state").as_array());
    const std::int64_t iterations = file.at("iterations").as_int64();
    const counts chosen = choose_often(topology, running, iterations);

    const json::object& expected = file.at("outcome").as_object();
    demand_only(expected, {"tolerance", "expected_frequencies"});
    const double tolerance = expected.at("tolerance").to_number<double>();
    for (const auto& one : expected.at("expected_frequencies").as_object()) {
        const double wanted = one.value().to_number<double>();
        const auto at = chosen.find(reported_address(one.key()));
        const double found = at == chosen.end() ? 0
                                                : static_cast<double>(at->second) /
                                                      static_cast<double>(iterations);
        // What never or always happens leaves no room for chance.
        const double allowed = wanted == 0 || wanted == 1 ? 0 : tolerance;
        demand(std::abs(wanted - found) <= allowed,
               std::string{one.key()} + ": expected " + std::to_string(wanted) + " +- " +
                   std::to_string(allowed) + ", found " + std::to_string(found));
    }
    return passed{};
}

bool recognises_in_window(const json::object& file)
{
    return file.contains("mocked_topology_state");
}

std::vector<test_case> in_window_cases(const json::object& file)
{
    return {{description_of(file), [&file](const settings&) { return run_in_window(file); }}};
}

}  // namespace

const format in_window{"in-window", recognises_in_window, in_window_cases};

}  // namespace holdfast::spec
