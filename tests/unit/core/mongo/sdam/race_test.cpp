#include "core/mongo/retry/decide.hpp"
#include "core/mongo/select/suitable.hpp"
#include "core/pool/pool.hpp"
#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

#include <map>

/// The races and histories that the specification describes, step by step on the pure machines:
/// what one thread knows is what it read at its own step.
namespace holdfast::core::mongo::sdam_test::race_test {
namespace {

const std::string both = R"("a", "b")";
const error trouble{bson::errc::invalid_value, "connection reset"};

/// A topology and its pools, with effects carried out in the order in which they come.
class cluster_view {
public:
    explicit cluster_view(topology_ptr t) : topology_{std::move(t)} {}

    connection_pool& pool(std::string_view server)
    {
        return pools_.try_emplace(at(server), core::pool_settings{}).first->second;
    }
    const topology_ptr& topology() const { return topology_; }
    std::string picture() const { return sdam_test::picture(*topology_); }

    transition hear(const server_description& reply)
    {
        return carry_out(apply_check(topology_, reply));
    }
    transition fail(application_error e)
    {
        return carry_out(apply_error(topology_, e, pool(parts_of(e.server).host).generation(),
                                     as_specified, now));
    }

    /// An error on a connection of that generation.
    application_error network_error(std::string_view server, std::uint32_t generation)
    {
        application_error e = failing(server, failure_kind::network);
        e.generation = generation;
        return e;
    }

    bool is_usable(std::string_view server)
    {
        return is_data_bearing(topology_->find(at(server))->type);
    }

private:
    transition carry_out(transition t)
    {
        topology_ = t.after;
        for (const effect& e : t.effects) {
            if (const auto* const ready = std::get_if<mark_pool_ready>(&e))
                pool(parts_of(ready->server).host).mark_ready(now);
            if (const auto* const clear = std::get_if<clear_pool>(&e)) {
                std::optional<core::pool_partition> partition;
                if (clear->service_id)
                    partition.emplace(clear->service_id->bytes);
                pool(parts_of(clear->server).host)
                    .clear(clear->cause, partition, clear->interrupt_in_use, now);
            }
        }
        return t;
    }

    topology_ptr topology_;
    std::map<endpoint, connection_pool> pools_;
};

bool is_selectable(const topology_ptr& t, std::string_view server, selection_request request)
{
    const auto found = suitable_servers(*t, request, {});
    return found && std::ranges::any_of(
                        *found, [&](const server_ptr& s) { return s->address == at(server); });
}

constexpr selection_request primary_read()
{
    return {.kind = operation_kind::read};
}

TEST(sdam_race, network_error_of_an_old_generation_is_ignored)
{
    VERIFIES("SD-165");
    cluster_view c{start({"a", "b"})};
    c.hear(primary("a", both));
    const std::uint32_t of_both_threads = c.pool("a").generation();

    c.fail(c.network_error("a", of_both_threads));  // thread A
    EXPECT_EQ(c.picture(), "ReplicaSetNoPrimary a:Unknown b:Unknown");
    EXPECT_EQ(c.pool("a").generation(), 1u);
    c.hear(primary("a", both));  // the server was restarted

    const transition late = c.fail(c.network_error("a", of_both_threads));  // thread B
    EXPECT_TRUE(late.effects.empty() && late.events.empty());
    EXPECT_EQ(c.picture(), "ReplicaSetWithPrimary a:RSPrimary b:Unknown");
    EXPECT_EQ(c.pool("a").current(), connection_pool::state::ready);
    EXPECT_EQ(c.pool("a").generation(), 1u);
}

TEST(sdam_race, second_not_primary_error_with_equal_topology_version_is_ignored)
{
    VERIFIES("SD-189");
    const auto version = [](int counter) {
        return R"("topologyVersion": {"processId": {"$oid": "000000000000000000000001"},
                  "counter": {"$numberLong": ")" +
               std::to_string(counter) + R"("}})";
    };
    const bson::document stepped_down = json(R"({"ok": 0, "code": 10107, )" + version(2) + "}");
    cluster_view c{start({"a", "b"})};
    c.hear(primary("a", both, version(1)));

    c.fail(answering("a", stepped_down));  // thread A
    EXPECT_EQ(c.topology()->find(at("a"))->version->counter, 2);
    c.hear(secondary("a", both, version(2)));  // the check that A's error asked for
    EXPECT_EQ(c.topology()->find(at("a"))->type, server_type::rs_secondary);

    const transition late = c.fail(answering("a", stepped_down));  // thread B
    EXPECT_TRUE(late.effects.empty());
    EXPECT_EQ(c.topology()->find(at("a"))->type, server_type::rs_secondary);
}

TEST(sdam_race, pool_clear_and_unknown_description_are_one_transition)
{
    VERIFIES("SD-163");
    cluster_view c{start({"a", "b"})};
    c.hear(primary("a", both));
    // A transition holds both, so nothing can come between them; after each one they agree.
    for (int round = 0; round < 3; ++round) {
        c.fail(c.network_error("a", c.pool("a").generation()));
        EXPECT_FALSE(c.is_usable("a"));
        EXPECT_EQ(c.pool("a").current(), connection_pool::state::paused);
        c.hear(primary("a", both));
        EXPECT_TRUE(c.is_usable("a"));
        EXPECT_EQ(c.pool("a").current(), connection_pool::state::ready);
        c.pool("a").check_out(checkout_id{1}, now);
        EXPECT_EQ(c.pool("a").waiting(), 1u) << "the wait queue of a good server is kept";
        c.pool("a").cancel(checkout_id{1}, checkout_failure::timeout, now);
    }
}

TEST(sdam_race, connection_keeps_the_generation_it_began_in)
{
    VERIFIES("SD-013");
    cluster_view c{start({"a", "b"})};
    c.hear(primary("a", both));
    c.pool("a").check_out(checkout_id{1}, now);
    const auto opening = c.pool("a").take_effects();
    const std::uint32_t begun_in = std::get<open_connection>(opening.at(0)).generation;
    c.fail(c.network_error("a", begun_in));
    c.hear(primary("a", both));
    application_error failed = c.network_error("a", begun_in);
    failed.phase = connection_phase::connecting;
    c.fail(failed);
    EXPECT_EQ(c.picture(), "ReplicaSetWithPrimary a:RSPrimary b:Unknown");
}

TEST(sdam_race, heartbeat_of_a_removed_server_is_ignored)
{
    VERIFIES("SD-093");
    cluster_view c{start({"a", "b"})};
    c.hear(primary("b", R"("b")"));  // while the check of a is under way
    const transition late = c.hear(secondary("a", both));
    EXPECT_EQ(c.picture(), "ReplicaSetWithPrimary b:RSPrimary");
    EXPECT_TRUE(late.effects.empty() && late.events.empty());
}

TEST(sdam_history, split_brain_keeps_the_primary_with_the_greater_election_id)
{
    VERIFIES("SD-208");
    const auto elected = [](int id) {
        return R"("setVersion": 1, "electionId": {"$oid": "00000000000000000000000)" +
               std::to_string(id) + R"("})";
    };
    cluster_view c{start({"a", "b"})};
    c.hear(primary("a", both, elected(1)));
    EXPECT_TRUE(is_selectable(c.topology(), "a", primary_read()));
    c.hear(primary("b", both, elected(2)));
    for (int round = 0; round < 3; ++round) {
        c.hear(primary("a", both, elected(1)));
        EXPECT_FALSE(is_selectable(c.topology(), "a", primary_read()));
        EXPECT_TRUE(is_selectable(c.topology(), "b", primary_read()));
    }
}

TEST(sdam_history, member_of_a_renamed_set_is_removed)
{
    VERIFIES("SD-203");
    const server_description renamed = hello(
        "b", R"("secondary": true, "setName": "other", "hosts": ["a", "b"])");
    cluster_view old{start({"a", "b"}, false, "rs")};
    old.hear(primary("a", both));
    old.hear(secondary("b", both));
    old.hear(renamed);
    EXPECT_EQ(old.picture(), "ReplicaSetWithPrimary a:RSPrimary");
    cluster_view fresh{start({"a", "b"}, false, "rs")};
    fresh.hear(renamed);
    fresh.hear(primary("a", R"("a")"));
    EXPECT_EQ(fresh.picture(), "ReplicaSetWithPrimary a:RSPrimary");
}

TEST(sdam_history, mixed_seeds_keep_the_mongos_only)
{
    VERIFIES("SD-046");
    cluster_view c{start({"a", "b", "m"})};
    c.hear(hello("a", ""));
    c.hear(hello("m", R"("msg": "isdbgrid")"));
    c.hear(secondary("b", both));
    EXPECT_EQ(c.picture(), "Sharded m:Mongos");
}

TEST(sdam_history, no_primary_serves_secondary_preferred_reads)
{
    VERIFIES("SD-006");
    cluster_view c{start({"a", "b"})};
    c.hear(secondary("a", both));
    c.hear(secondary("b", both));
    EXPECT_EQ(c.topology()->type, topology_type::replica_set_no_primary);
    const selection_request preferred{.kind = operation_kind::read,
                                      .preference = {.mode = read_mode::secondary_preferred}};
    EXPECT_TRUE(is_selectable(c.topology(), "a", preferred));
    EXPECT_TRUE(is_selectable(c.topology(), "b", preferred));
    EXPECT_FALSE(is_selectable(c.topology(), "a", {.kind = operation_kind::write}));
}

TEST(sdam_history, each_mongos_has_its_own_description_and_rtt)
{
    VERIFIES("SD-007");
    cluster_view c{start({"x", "y", "z"})};
    for (const char* name : {"x", "y"}) {
        server_description mongos = hello(name, R"("msg": "isdbgrid")");
        mongos.round_trip_time = std::chrono::milliseconds{4};
        c.hear(mongos);
    }
    c.hear(unknown_server(at("z"), trouble));
    EXPECT_EQ(c.picture(), "Sharded x:Mongos y:Mongos z:Unknown");
    EXPECT_TRUE(c.topology()->find(at("x"))->round_trip_time);
    EXPECT_TRUE(c.topology()->find(at("y"))->round_trip_time);
    EXPECT_FALSE(c.topology()->find(at("z"))->round_trip_time);
}

TEST(sdam_history, not_primary_on_a_new_connection_marks_unknown)
{
    VERIFIES("SD-215");
    cluster_view c{start({"a", "b"})};
    c.hear(primary("a", both));
    const bson::document reply = json(R"({"ok": 0, "code": 10107, "errmsg": "not primary"})");
    const transition t = c.fail(answering("a", reply));
    EXPECT_EQ(c.topology()->type, topology_type::replica_set_no_primary);
    EXPECT_EQ(servers_of<request_check>(t), names{"a"});
    failed_attempt failed{.origin = failure_origin::server, .code = 10107};
    failed.labels.retryable_write = true;
    failed.max_wire_version = 21;
    const retry_policy write{.kind = retry_kind::write, .repeatable = true};
    EXPECT_TRUE(decide(write, {}, failed, token_bucket{}, now, 0.5).retries());
}

TEST(sdam_history, unknown_server_has_no_rtt)
{
    VERIFIES("SD-069");
    VERIFIES("SD-070");
    server_description reply = primary("a", both);
    reply.round_trip_time = reply.min_round_trip_time = std::chrono::milliseconds{8};
    cluster_view c{start({"a", "b"})};
    c.hear(reply);
    EXPECT_EQ(c.topology()->find(at("a"))->round_trip_time, std::chrono::milliseconds{8});
    server_description demoted = secondary("a", both);
    demoted.round_trip_time = std::chrono::milliseconds{9};
    c.hear(demoted);
    EXPECT_EQ(c.topology()->find(at("a"))->round_trip_time, std::chrono::milliseconds{9});
    server_description silent = unknown_server(at("a"), trouble);
    silent.round_trip_time = silent.min_round_trip_time = std::chrono::milliseconds{1};
    c.hear(silent);
    EXPECT_FALSE(c.topology()->find(at("a"))->round_trip_time);
    EXPECT_FALSE(c.topology()->find(at("a"))->min_round_trip_time);
}

TEST(sdam_history, update_replaces_the_description_and_applies_effects)
{
    VERIFIES("SD-200");
    const topology_ptr before = start({"a", "b"});
    EXPECT_EQ(apply_check(before, primary("z", both)).after, before) << "unknown address";
    const transition t = apply_check(before, primary("a", both));
    EXPECT_NE(t.after, before) << "replaced";
    EXPECT_EQ(servers_of<mark_pool_ready>(t), names{"a"});
    EXPECT_EQ(picture(*t.after), "ReplicaSetWithPrimary a:RSPrimary b:Unknown") << "the table";
    EXPECT_EQ(count_of<server_description_changed>(t), 1);
    EXPECT_EQ(count_of<topology_description_changed>(t), 1);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::race_test
