#include "client/prose/lab_scene.hpp"
#include "core/mongo/error/errc.hpp"

#include <algorithm>
#include <array>

/// A primary that freezes under load: its operations go to the next one, and none is applied twice
/// when it thaws with their first attempts still in its hands.
namespace holdfast::proof::freeze_test {
namespace {

using namespace std::chrono_literals;

constexpr int increments_per_worker = 40;

struct worker_report {
    int acknowledged = 0;
    std::string errors = {};
    duration longest{};
    bool done = false;
};

runtime::awaitable<void> increment(mongo::collection into, int counter, const sim::simulation* in,
                                   worker_report* report)
{
    const bson::document which = bson::doc("_id", counter);
    const bson::document one_more = bson::doc("$inc", bson::object("n", 1));
    mongo::update_options options;
    options.write_concern = mongo::majority;
    for (int n = 0; n < increments_per_worker; ++n) {
        const time_point began = in->now();
        const auto done = co_await into.update_one(which.view(), one_more, options, use_awaitable);
        report->longest = std::max<duration>(report->longest, in->now() - began);
        if (done)
            ++report->acknowledged;
        else
            report->errors += done.error().explain() + "\n";
    }
    report->done = true;
}

/// Each attempt that was given up is sent to the newer primary in the moment in which the client's
/// event names that one. How many there were.
std::size_t expect_sent_again_at_once(const lab_scene& s)
{
    std::size_t given_up = 0;
    const auto started = s.started("update");
    const auto changes = s.events().of(heard::server_changed);
    for (const record& one : s.of(heard::command_failed, "update")) {
        if (!one.failure || one.failure->code() != core::mongo::errc::primary_deposed)
            continue;
        ++given_up;
        const auto again = std::ranges::find_if(started, [&](const record& next) {
            return next.operation == one.operation && next.server != one.server;
        });
        if (again == started.end()) {
            ADD_FAILURE() << "it was not sent again";
            continue;
        }
        const bool known = std::ranges::any_of(changes, [&](const record& change) {
            return change.server == again->server && change.after == "RSPrimary" &&
                   change.when == again->when;
        });
        EXPECT_EQ(again->when, one.when);
        EXPECT_TRUE(known) << "it was sent later than the event";
    }
    return given_up;
}

/// Four workers, each with a counter of its own; the primary freezes in the middle of it, and thaws
/// when all are done. How many attempts were given up for a newer primary.
std::size_t freeze_and_thaw(std::uint64_t seed)
{
    lab_scene s{{.members = 3, .seed = seed}};
    s.connect("&minPoolSize=4");  // a connection for each worker, also to the next primary
    std::vector<bson::document> counters;
    for (int counter = 0; counter < 4; ++counter)
        counters.push_back(bson::doc("_id", counter, "n", 0));
    EXPECT_TRUE(s.get(s.test_collection().insert_many(counters, {.write_concern = mongo::majority},
                                                      use_awaitable)));
    std::array<worker_report, 4> reports;
    for (std::size_t counter = 0; counter < reports.size(); ++counter)
        s.app.start(increment(s.test_collection(), static_cast<int>(counter), &s.simulation,
                              &reports[counter]));
    s.simulation.run_for(20ms + std::chrono::milliseconds{seed % 50});
    const std::size_t frozen = s.primary();
    s.set->freeze(frozen, true);
    EXPECT_TRUE(s.finish([&] { return std::ranges::all_of(reports, &worker_report::done); }));
    s.set->freeze(frozen, false);
    s.simulation.run_for(15s);

    for (std::size_t counter = 0; counter < reports.size(); ++counter) {
        EXPECT_EQ(reports[counter].errors, "");
        EXPECT_EQ(reports[counter].acknowledged, increments_per_worker);
        EXPECT_LT(reports[counter].longest, 10s) << "it waited for the frozen one";
        const bson::document which = bson::doc("_id", static_cast<int>(counter));
        const auto found = s.get(s.test_collection().find_one(which.view(), {}, use_awaitable));
        if (!found || !*found) {
            ADD_FAILURE() << "counter " << counter << " cannot be read";
            continue;
        }
        EXPECT_EQ((**found)["n"].as_int32(), increments_per_worker);
    }
    return expect_sent_again_at_once(s);
}

TEST(prose_freeze, operations_of_a_frozen_primary_are_done_once_by_the_next_one)
{
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        EXPECT_GE(freeze_and_thaw(seed), 1U) << "no attempt was given up";
    }
}

}  // namespace
}  // namespace holdfast::proof::freeze_test
