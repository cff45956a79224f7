#include "case_fields.hpp"
#include "core/pool/errc.hpp"
#include "format.hpp"
#include "pool_live.hpp"
#include "sdam_json.hpp"
#include "unified/needs.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::spec {
namespace {

namespace json = boost::json;
using core::pool_errc;

std::uint32_t count(const case_fields& from, std::string_view name, std::uint32_t otherwise)
{
    const std::int64_t number = from.number(name, otherwise);
    demand(number >= 0 && number <= std::numeric_limits<std::uint32_t>::max(),
           std::string{name} + " is no count");
    return static_cast<std::uint32_t>(number);
}

pool_options options_from(const json::object& file)
{
    pool_options made;
    const json::value* const given = file.if_contains("poolOptions");
    if (!given)
        return made;
    const case_fields from{*given};
    from.demand_only({"maxPoolSize", "minPoolSize", "maxConnecting", "maxIdleTimeMS",
                      "waitQueueTimeoutMS", "backgroundThreadIntervalMS", "appName"});
    core::pool_settings& to = made.settings;
    to.max_size = count(from, "maxPoolSize", to.max_size);
    to.min_size = count(from, "minPoolSize", to.min_size);
    to.max_connecting = count(from, "maxConnecting", to.max_connecting);
    to.max_idle = std::chrono::milliseconds{count(from, "maxIdleTimeMS", 0)};
    if (from.has("waitQueueTimeoutMS"))
        made.wait_queue_timeout = std::chrono::milliseconds{count(from, "waitQueueTimeoutMS", 0)};
    if (const auto pause = from.number("backgroundThreadIntervalMS", 10); pause > 0)
        made.upkeep_every = std::chrono::milliseconds{pause};
    else
        made.upkeep_every.reset();
    made.app_name = from.text_if("appName");
    const auto idle = std::chrono::duration_cast<std::chrono::milliseconds>(to.max_idle);
    made.as_events = {{"maxPoolSize", to.max_size},
                      {"minPoolSize", to.min_size},
                      {"maxIdleTimeMS", idle.count()}};
    return made;
}

json::object to_text(const error& e)
{
    const char* type = "an error that is not the pool's own";
    if (e.code() == pool_errc::closed)
        type = "PoolClosedError";
    else if (e.code() == pool_errc::cleared)
        type = "PoolClearedError";
    else if (e.code() == pool_errc::timed_out)
        type = "WaitQueueTimeoutError";
    return {{"type", type}, {"message", e.message()}, {"address", "pool:27017"}};
}

void check_error(const json::value* expected, const std::optional<error>& found)
{
    const json::value received = found ? json::value(to_text(*found)) : json::value();
    demand(!expected == !found && (!expected || says(*expected, received)),
           "error of the main thread: expected " +
               (expected ? json::serialize(*expected) : "none") + ", found " +
               json::serialize(received));
}

void check_events(const json::object& file, std::vector<json::object> received)
{
    if (const json::value* const ignored = file.if_contains("ignore"))
        std::erase_if(received, [&](const json::object& e) {
            return std::ranges::find(ignored->as_array(), e.at("type")) !=
                   ignored->as_array().end();
        });
    const json::array& expected = file.at("events").as_array();
    json::array found;
    for (const json::object& e : received)
        found.emplace_back(e);
    for (std::size_t i = 0; i < expected.size(); ++i)
        demand(i < found.size() && says(expected[i], found[i]),
               "event " + std::to_string(i + 1) + ": expected " + json::serialize(expected[i]) +
                   " in " + json::serialize(found));
}

/// The server of the lab is as new as all others there; what asks for a newer one is not run.
bool asks_for_newer(const json::object& file)
{
    const json::value* const clauses = file.if_contains("runOn");
    if (!clauses)
        return false;
    return std::ranges::none_of(clauses->as_array(), [](const json::value& one) {
        const case_fields clause{one};
        clause.demand_only({"minServerVersion"});
        return unified::version_from(clause.text("minServerVersion")) <=
               unified::deployment_kind{}.version;
    });
}

outcome run_pool(const json::object& file, const settings& options)
{
    demand_only(file, {"version", "style", "description", "poolOptions", "operations", "error",
                       "events", "ignore", "runOn", "failPoint"});
    const std::string_view style = file.at("style").as_string();
    pool_story came;
    if (style == "integration") {
        if (asks_for_newer(file))
            return skipped{"no deployment of the lab is what it needs: a newer version"};
        came = run_on_lab(file, options_from(file), options.runtime == "sim");
    } else {
        demand(style == "unit", "the runner does not know this style: " + std::string{style});
        pool_run pool{options_from(file)};
        came.failed = pool.run(file.at("operations").as_array());
        came.events = pool.events();
    }
    check_error(file.if_contains("error"), came.failed);
    check_events(file, std::move(came.events));
    return passed{};
}

bool recognises_pool(const json::object& file)
{
    return file.contains("style") && file.contains("operations") && file.contains("events");
}

std::vector<test_case> pool_cases(const json::object& file)
{
    return {{description_of(file),
             [&file](const settings& options) { return run_pool(file, options); }}};
}

}  // namespace

const format pool{"connection-pool", recognises_pool, pool_cases};

}  // namespace holdfast::spec
