#include "client/races/races.hpp"

#include <map>
#include <utility>

namespace holdfast::proof {

using namespace std::chrono_literals;
namespace {

int id_of(bson::view insert)
{
    return insert["documents"].as_array()[0].as_document()["_id"].as_int32();
}

/// What all members have applied, with the memory of sessions that goes with it.
class shared_data {
public:
    /// Gives the reply, whether it is applied now or was before.
    bson::document apply(const scripted_command& command)
    {
        const auto bytes = command.body["lsid"].as_document().bytes();
        const std::pair key{std::string{bytes.begin(), bytes.end()},
                            command.body["txnNumber"].as_int64()};
        if (known_.emplace(key, true).second)
            ++applied_[id_of(command.body.view())];
        return bson::doc("n", 1, "ok", 1.0);
    }
    int times(int id) const
    {
        const auto at = applied_.find(id);
        return at == applied_.end() ? 0 : at->second;
    }

private:
    std::map<std::pair<std::string, std::int64_t>, bool> known_;
    std::map<int, int> applied_;
};

/// A member whose writes go wrong in all ways.
scripted_server::full_answer unlucky(scene& s, dice& chance, shared_data& data, std::string me)
{
    return [&s, &chance, &data, me = std::move(me)](const scripted_command& c) {
        const duration delay = chance.up_to(3ms);
        if (s.set.primary != me)
            return scripted_reply{error_reply(10107, "RetryableWriteError"), delay};
        switch (chance.below(8)) {
        case 0:
            return hang_up(delay);  // before it is applied
        case 1:
            (void)data.apply(c);
            return hang_up(delay);  // and after
        case 2:
            return scripted_reply{overload_reply(), delay};
        case 3:
            return scripted_reply{error_reply(91, "RetryableWriteError"), delay};
        default:
            return scripted_reply{data.apply(c), delay};
        }
    };
}

void elect_at(scene& s, duration when, std::string who)
{
    s.simulation.at_time(s.simulation.now() + when, [&s, who = std::move(who)] {
        s.set.elect(who);
        s.server("a").announce();
        s.server("b").announce();
    });
}

}  // namespace

race_report removed_in_flight(std::uint64_t seed)
{
    scene s{{.seed = seed, .hosts = {"a", "b", "c"}, .latency_min = 100us, .latency_max = 3ms}};
    dice chance{s.simulation};
    for (const std::string name : {"a", "b", "c"})
        s.server(name).on_command("find", [&](const scripted_command&) {
            const bool breaks = chance.roll(0.1);
            return scripted_reply{.body = breaks ? bson::document{} : bson::doc("ok", 1.0),
                                  .delay = chance.up_to(60ms),
                                  .closes = breaks};
        });
    s.connect("&readPreference=nearest&localThresholdMS=1000&heartbeatFrequencyMS=500");
    s.settle();
    for (int i = 0; i < 30; ++i)
        s.simulation.at_time(s.simulation.now() + chance.up_to(100ms),
                             [&s] { s.start(bson::doc("find", "coll"), as_read()); });
    s.simulation.at_time(s.simulation.now() + 20ms + chance.up_to(60ms), [&s] {
        s.set.hosts.pop_back();
        s.set.elect("a:27017");
        s.server("a").announce();
    });
    s.simulation.run_for(3s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    const auto closed = s.events().of(heard::server_closed, "c:27017");
    if (closed.size() != 1)
        report.complaints += "the server was not removed once\n";
    std::size_t running = 0;
    for (const record& one : s.events().all()) {
        if (one.server != "c:27017" || closed.empty())
            continue;
        const bool later = one.when > closed[0].when;
        if (one.what == heard::command_started) {
            running += later ? 0 : 1;
            if (later)
                report.complaints += "a command was sent to a server that was removed\n";
        } else if (one.what <= heard::command_failed) {
            report.raced = report.raced || (later && running > 0);
        }
    }
    s.simulation.run_for(1s);
    if (s.server("c").open_connections() != 0)
        report.complaints += "connections to a removed server are still open\n";
    conclude(s, report);
    return report;
}

race_report late_replies(std::uint64_t seed)
{
    scene s{{.seed = seed, .hosts = {"a"}, .latency_min = 100us, .latency_max = 2ms}};
    dice chance{s.simulation};
    s.server("a").on_command("count", [&](const scripted_command& c) {
        const bool slow = chance.roll(0.3);
        return scripted_reply{.body = bson::doc("n", c.body["query"].as_int32(), "ok", 1.0),
                              .delay = slow ? 20ms + chance.up_to(600ms) : chance.up_to(3ms)};
    });
    s.connect("&maxPoolSize=2");
    s.settle();
    race_report report;
    std::map<const operation*, int> asked;
    for (int id = 1; id <= 40; ++id) {
        const mongo::command_options options{.timeout = 1500ms};
        operation& op = s.start(bson::doc("count", "coll", "query", id), options);
        asked.emplace(&op, id);
        if (chance.roll(0.5))
            s.simulation.at_time(s.simulation.now() + chance.up_to(30ms), [&op] {
                if (!op.done())
                    op.stop.emit(boost::asio::cancellation_type::terminal);
            });
        s.simulation.run_for(chance.up_to(40ms));
    }
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    for (const operation& one : s.operations) {
        const bool good = one.good();
        if (good && (*one.outcome)->get<int>("n").value_or(0) != asked[&one])
            report.complaints += "an operation got another's reply\n";
        if (!good && one.outcome->error().code() != runtime::errc::cancelled && one.took() < 1500ms)
            report.complaints += "an operation met another's reply: " + one.explain() + "\n";
        report.raced = report.raced || !good;
    }
    if (times_lost(s.events(), "a:27017") != 0)
        report.complaints += "a slow reply has lost the server\n";
    conclude(s, report, {.pool = 2});
    return report;
}

race_report repeated_writes(std::uint64_t seed)
{
    scene s{{.seed = seed, .latency_min = 100us, .latency_max = 3ms}};
    dice chance{s.simulation};
    shared_data data;
    for (const std::string name : {"a", "b"})
        s.server(name).on_command("insert", unlucky(s, chance, data, name + ":27017"));
    s.connect("&heartbeatFrequencyMS=1000");
    s.settle();
    elect_at(s, chance.up_to(100ms), "b:27017");
    elect_at(s, 1s + chance.up_to(100ms), "a:27017");
    for (int id = 0; id < 12; ++id)
        s.simulation.at_time(s.simulation.now() + chance.up_to(1200ms), [&s, id] {
            s.start(insert_of(id), {.kind = mongo::command_kind::write, .timeout = 20s});
        });
    s.simulation.run_for(1300ms);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    std::size_t good = 0;
    for (const operation& one : s.operations)
        good += one.good() ? 1 : 0;
    std::size_t applied = 0;
    for (int id = 0; id < 12; ++id) {
        applied += data.times(id) > 0 ? 1 : 0;
        if (data.times(id) > 1)
            report.complaints += "a write was applied " + std::to_string(data.times(id)) +
                                 " times\n";
    }
    if (applied < good)
        report.complaints += "a write that succeeded was never applied\n";
    report.raced = s.events().count(heard::command_started) > 12;
    conclude(s, report);
    return report;
}

race_report refused_commands(std::uint64_t seed)
{
    scene s{{.seed = seed, .hosts = {"a"}, .latency_min = 100us, .latency_max = 2ms}};
    dice chance{s.simulation};
    s.server("a").on_command("insert", [&](const scripted_command&) {
        return scripted_reply{chance.roll(0.5) ? overload_reply() : bson::doc("n", 1, "ok", 1.0)};
    });
    s.connect("&maxPoolSize=1");
    s.settle();
    const mongo::command_options write{.kind = mongo::command_kind::write, .timeout = 20s};
    for (int id = 0; id < 6; ++id)
        s.start(insert_of(id), write);
    for (int i = 0; i < 20; ++i)
        s.simulation.at_time(s.simulation.now() + chance.up_to(500ms),
                             [&s] { s.start(ping_command(), {.timeout = 20s}); });
    s.simulation.run_for(600ms);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    for (const operation& one : s.operations) {
        if (!one.good() && one.code() != 462)
            report.complaints += "an operation failed: " + one.explain() + "\n";
    }
    for (std::size_t i = 6; i < s.operations.size(); ++i) {
        if (s.operations[i].took() > 60ms)
            report.complaints += "a ping waited for another operation's backoff\n";
    }
    report.raced = s.events().count(heard::command_failed) > 0;
    conclude(s, report, {.pool = 1});
    return report;
}

race_report storm(std::uint64_t seed)
{
    scene s{{.seed = seed, .latency_min = 100us, .latency_max = 10ms, .streams = seed % 3 != 0}};
    dice chance{s.simulation};
    shared_data data;
    for (const std::string name : {"a", "b"})
        s.server(name).on_command("insert", unlucky(s, chance, data, name + ":27017"));
    s.connect("&heartbeatFrequencyMS=700&maxPoolSize=3");
    s.settle();
    for (int i = 0; i < 3; ++i) {
        elect_at(s, chance.up_to(3s), chance.roll(0.5) ? "a:27017" : "b:27017");
        s.simulation.at_time(s.simulation.now() + chance.up_to(3s),
                             [&s, &chance] { s.restart(chance.roll(0.5) ? "a" : "b", 10s); });
    }
    // A server that is down stays down until here; elections go on without it.
    for (int id = 0; id < 25; ++id)
        s.simulation.at_time(s.simulation.now() + chance.up_to(3s), [&s, &chance, id] {
            operation& op = s.start(insert_of(id),
                                    {.kind = mongo::command_kind::write, .timeout = 5s});
            if (chance.roll(0.2))
                s.simulation.at_time(s.simulation.now() + chance.up_to(50ms), [&op] {
                    if (!op.done())
                        op.stop.emit(boost::asio::cancellation_type::terminal);
                });
        });
    s.simulation.run_for(15s);
    race_report report;
    if (!s.finish_all())
        report.complaints += "an operation did not end\n";
    for (int id = 0; id < 25; ++id) {
        if (data.times(id) > 1)
            report.complaints += "a write was applied " + std::to_string(data.times(id)) +
                                 " times\n";
    }
    for (const operation& one : s.operations) {
        if (one.took() > 5s)
            report.complaints += "an operation ended after its deadline\n";
    }
    if (!s.run(ping_command()).good())
        report.complaints += "the client did not recover: " + s.operations.back().explain() + "\n";
    report.raced = s.events().count(heard::pool_cleared) > 0;
    conclude(s, report, {.pool = 3});
    return report;
}

const std::vector<race>& all_races()
{
    static const std::vector<race> races = {
        {"old_network_errors", old_network_errors},
        {"lost_and_cleared_together", lost_and_cleared_together},
        {"old_state_change_errors", old_state_change_errors},
        {"many_state_change_errors", many_state_change_errors},
        {"stale_primary", stale_primary},
        {"removed_in_flight", removed_in_flight},
        {"late_replies", late_replies},
        {"repeated_writes", repeated_writes},
        {"refused_commands", refused_commands},
        {"storm", storm},
    };
    return races;
}

}  // namespace holdfast::proof
