#include "core/mongo/select/round_trip.hpp"

#include "case_fields.hpp"
#include "format.hpp"

#include <cmath>

namespace holdfast::spec {
namespace {

namespace json = boost::json;
using milliseconds = std::chrono::duration<double, std::milli>;

duration time(const json::value& number)
{
    return std::chrono::nanoseconds{std::llround(number.to_number<double>() * 1e6)};
}

outcome run_round_trip(const json::object& file)
{
    demand_only(file, {"avg_rtt_ms", "new_rtt_ms", "new_avg_rtt"});
    core::mongo::round_trip_tracker tracker;
    const json::value& before = file.at("avg_rtt_ms");
    if (before.is_number())
        tracker.record(time(before));
    else
        demand(before == "NULL", "avg_rtt_ms is neither a number nor NULL");
    tracker.record(time(file.at("new_rtt_ms")));
    const double expected = file.at("new_avg_rtt").to_number<double>();
    const double found = milliseconds{tracker.average().value()}.count();
    demand(std::abs(expected - found) < 1e-6,
           "expected " + std::to_string(expected) + " ms, found " + std::to_string(found) + " ms");
    return passed{};
}

bool recognises_round_trip(const json::object& file)
{
    return file.contains("avg_rtt_ms") && file.contains("new_rtt_ms");
}

std::vector<test_case> round_trip_cases(const json::object& file)
{
    return {{"average of " + json::serialize(file.at("avg_rtt_ms")) + " and " +
                 json::serialize(file.at("new_rtt_ms")),
             [&file](const settings&) { return run_round_trip(file); }}};
}

}  // namespace

const format round_trip{"round-trip-time", recognises_round_trip, round_trip_cases};

}  // namespace holdfast::spec
