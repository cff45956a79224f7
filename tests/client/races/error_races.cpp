#include "client/races/races.hpp"
#include "core/pool/errc.hpp"

#include <algorithm>

namespace holdfast::proof {

using namespace std::chrono_literals;

std::size_t times_lost(const recorder& events, std::string_view server)
{
    const auto changes = events.of(heard::server_changed, server);
    return static_cast<std::size_t>(std::ranges::count_if(changes, [](const record& one) {
        return one.after == "Unknown" && one.before != "Unknown" && one.before != "PossiblePrimary";
    }));
}

void conclude(scene& s, race_report& report, rule_limits limits)
{
    for (const operation& one : s.operations) {
        if (one.completions != 1)
            report.complaints += "an operation ended " + std::to_string(one.completions) +
                                 " times\n";
    }
    const std::string left = s.close();
    if (!left.empty())
        report.complaints += left + "\n";
    report.complaints += s.complaints(limits);
}

namespace {

/// Begins pings at a steady pace, for so long.
void ping_along(scene& s, duration length, duration every)
{
    for (duration at = every; at < length; at += every)
        s.simulation.at_time(s.simulation.now() + at, [&s] { s.start(ping_command()); });
}

/// When a server was found again after it was lost for the first time.
std::optional<time_point> found_again(const recorder& events, std::string_view server,
                                      std::string_view as)
{
    bool lost = false;
    for (const record& one : events.of(heard::server_changed, server)) {
        if (lost && one.after == as)
            return one.when;
        lost = lost || (one.after == "Unknown" && one.before != "Unknown");
    }
    return std::nullopt;
}

std::optional<time_point> last_failure(const recorder& events, std::string_view command)
{
    std::optional<time_point> last;
    for (const record& one : events.of(heard::command_failed)) {
        if (one.name == command)
            last = one.when;
    }
    return last;
}

void expect_count(race_report& report, const std::string& what, std::size_t found, std::size_t most)
{
    if (found > most)
        report.complaints += what + ": " + std::to_string(found) + " times, not " +
                             std::to_string(most) + "\n";
}

}  // namespace

race_report old_network_errors(std::uint64_t seed)
{
    scene s{{.seed = seed, .hosts = {"a"}, .latency_min = 100us, .latency_max = 5ms}};
    dice chance{s.simulation};
    s.server("a").on_command(
        "insert", [&](const scripted_command&) { return hang_up(20ms + chance.up_to(3s)); });
    s.connect("&retryWrites=false&maxConnecting=8");
    s.settle();
    for (int id = 0; id < 6; ++id)
        s.start_write(id);
    ping_along(s, 4s, 90ms);
    s.simulation.run_for(4s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    expect_count(report, "the server was lost", times_lost(s.events(), "a:27017"), 1);
    expect_count(report, "its pool was cleared", s.events().count(heard::pool_cleared), 1);
    const auto found = found_again(s.events(), "a:27017", "RSPrimary");
    if (!found)
        report.complaints += "the server was not found again\n";
    for (const operation& one : s.operations) {
        if (found && one.began > *found && !one.good())
            report.complaints += "an operation met old news: " + one.explain() + "\n";
    }
    report.raced = found && last_failure(s.events(), "insert") > found;
    conclude(s, report, {.connecting = 8});
    return report;
}

race_report lost_and_cleared_together(std::uint64_t seed)
{
    scene s{{.seed = seed, .hosts = {"a"}, .latency_min = 100us, .latency_max = 3ms}};
    dice chance{s.simulation};
    s.server("a").on_command("find", [&](const scripted_command&) {
        return scripted_reply{.body = bson::doc("ok", 1.0), .delay = chance.up_to(20ms)};
    });
    s.connect("&maxPoolSize=4");
    s.settle();
    const auto read = [&s] { s.start(bson::doc("find", "coll"), as_read()); };
    for (int i = 0; i < 40; ++i)
        s.simulation.at_time(s.simulation.now() + chance.up_to(40ms), read);
    s.simulation.at_time(s.simulation.now() + 10ms + chance.up_to(20ms),
                         [&] { s.restart("a", chance.up_to(2ms)); });
    s.simulation.run_for(2s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    for (const operation& one : s.operations) {
        if (!one.good())
            report.complaints += "a read failed twice: " + one.explain() + "\n";
    }
    expect_count(report, "the server was lost", times_lost(s.events(), "a:27017"), 1);
    expect_count(report, "its pool was cleared", s.events().count(heard::pool_cleared), 1);
    report.raced = s.events().count(heard::pool_cleared) == 1 &&
                   s.events().count(heard::command_failed) +
                           s.events().count(heard::check_out_failed) >=
                       2;
    conclude(s, report, {.pool = 4});
    return report;
}

race_report old_state_change_errors(std::uint64_t seed)
{
    scene s{{.seed = seed, .latency_min = 100us, .latency_max = 5ms}};
    dice chance{s.simulation};
    const time_point change = s.simulation.now() + 200ms;
    s.server("a").on_command("insert", [&](const scripted_command& c) {
        scripted_set later = s.set;
        later.versions["a:27017"] = 2;
        const duration rest = c.when < change ? change - c.when : duration::zero();
        return scripted_reply{.body = bson::doc("ok", 0.0, "code", 10107, "errmsg", "not primary",
                                                "topologyVersion",
                                                later.version_of("a:27017").view(), "errorLabels",
                                                bson::list("RetryableWriteError")),
                              .delay = rest + chance.up_to(1s)};
    });
    // Or no error would come after a newer primary is known.
    s.connect("&maxConnecting=8&rescueFromDeposedPrimary=false");
    s.settle();
    for (int id = 0; id < 6; ++id)
        s.start_write(id);
    s.simulation.at_time(change, [&] { s.set.elect("b:27017"); });
    s.simulation.at_time(change + chance.up_to(600ms), [&] { s.server("a").announce(); });
    s.simulation.at_time(change + chance.up_to(600ms), [&] { s.server("b").announce(); });
    s.simulation.run_for(2s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    for (const operation& one : s.operations) {
        if (!one.good())
            report.complaints += "a write did not reach the new primary: " + one.explain() + "\n";
    }
    std::optional<time_point> secondary;
    for (const record& one : s.events().of(heard::server_changed, "a:27017")) {
        if (secondary && one.after == "Unknown")
            report.complaints += "old news about a server that is known\n";
        if (one.after == "RSSecondary")
            secondary = one.when;
    }
    report.raced = secondary && last_failure(s.events(), "insert") > secondary;
    conclude(s, report, {.connecting = 8});
    return report;
}

race_report many_state_change_errors(std::uint64_t seed)
{
    scene s{
        {.seed = seed, .hosts = {"a"}, .latency_min = 100us, .latency_max = 5ms, .streams = false}};
    dice chance{s.simulation};
    s.set.wire_version = 7;  // that clears its pool
    s.server("a").on_command("insert", [&](const scripted_command&) {
        return scripted_reply{.body = error_reply(10107), .delay = 50ms + chance.up_to(300ms)};
    });
    s.connect("&retryWrites=false&maxConnecting=8&heartbeatFrequencyMS=60000");
    s.settle();
    for (int id = 0; id < 8; ++id)
        s.start_write(id);
    s.simulation.run_for(5s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    expect_count(report, "the server was lost", times_lost(s.events(), "a:27017"), 1);
    expect_count(report, "its pool was cleared", s.events().count(heard::pool_cleared), 1);
    expect_count(report, "the server was checked", s.events().count(heard::heartbeat_started), 2);
    if (s.events().type_of("a:27017") != "RSPrimary")
        report.complaints += "no check was requested\n";
    report.raced = s.events().count(heard::command_failed) >= 2;
    conclude(s, report, {.connecting = 8});
    return report;
}

race_report stale_primary(std::uint64_t seed)
{
    scene s{{.seed = seed, .latency_min = 100us, .latency_max = 50ms, .streams = seed % 2 == 0}};
    dice chance{s.simulation};
    scripted_set isolated = s.set;  // as the old primary sees it
    isolated.versions["a:27017"] = 1;
    s.server("a").on_hello(
        [&](const scripted_command&) { return scripted_reply{isolated.hello_of("a:27017")}; });
    s.connect("&heartbeatFrequencyMS=500");
    s.settle(500ms);
    for (int i = 0; i < 12; ++i)
        s.simulation.at_time(s.simulation.now() + chance.up_to(3s), [&] {
            ++isolated.versions["a:27017"];
            s.server("a").announce();
        });
    s.simulation.at_time(s.simulation.now() + chance.up_to(500ms), [&] {
        s.set.elect("b:27017");
        s.server("b").announce();
    });
    for (int id = 0; id < 40; ++id)
        s.simulation.at_time(s.simulation.now() + chance.up_to(3s),
                             [&s, id] { s.start_write(id); });
    s.simulation.run_for(4s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    std::optional<time_point> elected;
    for (const record& one : s.events().all()) {
        if (one.what == heard::server_changed && one.server == "b:27017" &&
            one.after == "RSPrimary")
            elected = one.when;
        if (elected && one.server == "a:27017") {
            if (one.what == heard::server_changed && one.after == "RSPrimary")
                report.complaints += "the old primary is published again\n";
            // Who has chosen it before may still send.
            if (one.what == heard::check_out_started)
                report.complaints += "the old primary is chosen again\n";
            report.raced = report.raced || one.what == heard::heartbeat_succeeded;
        }
    }
    if (!elected)
        report.complaints += "the new primary was never found\n";
    conclude(s, report);
    return report;
}

}  // namespace holdfast::proof
