#include "core/mongo/sdam/srv_poll.hpp"

#include "core/mongo/settings/draw_order.hpp"
#include "core/mongo/uri/uri.hpp"
#include "sdam_fixture.hpp"

#include <array>
#include <map>
#include <set>

/// The prose tests of the specification "Polling SRV Records for mongos Discovery", by their
/// numbers there, then what they leave out.
namespace holdfast::core::mongo::sdam_test::srv_poll_test {
namespace {

using namespace std::chrono_literals;
using ports = std::vector<std::uint16_t>;

constexpr std::array<double, 8> any_chance = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};

endpoint router(std::uint16_t port)
{
    return at("localhost.test.build.10gen.cc:" + std::to_string(port));
}

std::vector<srv_host> records(const ports& of, std::chrono::seconds ttl = 86'400s)
{
    std::vector<srv_host> all;
    for (const std::uint16_t port : of)
        all.push_back({"localhost.test.build.10gen.cc", port, ttl});
    return all;
}

/// A client of a sharded cluster that was found by SRV records, at a time of its own.
struct polling_client {
    polling_client(const std::string& uri, const ports& first)
    {
        const parsed_uri parsed = parse_uri(uri).value();
        srv_answer answer;
        for (const srv_host& record : records(first))
            answer.targets.push_back({record.host, record.port});
        settings = resolve_srv(parsed, answer).value().settings;
        topology = open_topology({.seeds = settings.seeds,
                                  .replica_set = settings.replica_set,
                                  .load_balanced = settings.load_balanced})
                       .after;
        if (polls_srv(*topology, settings.srv))
            next_poll = clock + srv_rescan_interval(records(first));
    }

    void all_are_routers()
    {
        for (const server_ptr& s : std::vector{topology->servers}) {
            const auto reply = json(R"({"ok": 1, "isWritablePrimary": true, "msg": "isdbgrid",
                                        "minWireVersion": 0, "maxWireVersion": 21})");
            topology = apply_check(topology, parse_hello(s->address, reply, {}, now)).after;
        }
    }

    /// Asks whenever it is time, and gets this answer.
    void run_until(time_point end, const result<std::vector<srv_host>>& answer,
                   std::span<const double> chances = any_chance)
    {
        const srv_poll_settings poll{settings.srv.value(), settings.heartbeat_frequency,
                                     shares_domain};
        while (next_poll && *next_poll <= end) {
            clock = *next_poll;
            asked.push_back(clock);
            const auto outcome = apply_srv_poll(topology, answer, poll, chances);
            topology = outcome.change.after;
            for (const effect& e : outcome.change.effects)
                if (const auto* text = std::get_if<warn>(&e))
                    warnings.push_back(text->text);
            next_poll.reset();
            if (outcome.next)
                next_poll = clock + *outcome.next;
        }
        clock = end;
    }
    void run_for_two_intervals(const result<std::vector<srv_host>>& answer,
                               std::span<const double> chances = any_chance)
    {
        run_until(clock + 2 * 86'400s, answer, chances);
    }

    std::vector<endpoint> servers() const
    {
        std::vector<endpoint> all;
        for (const server_ptr& s : topology->servers)
            all.push_back(s->address);
        return all;
    }

    client_settings settings;
    topology_ptr topology;
    time_point clock = now;
    std::optional<time_point> next_poll;
    std::vector<time_point> asked;
    names warnings;
};

std::vector<endpoint> routers(const ports& of)
{
    std::vector<endpoint> all;
    for (const std::uint16_t port : of)
        all.push_back(router(port));
    return all;
}

polling_client of_test1(const std::string& options = {})
{
    polling_client client{"mongodb+srv://test1.test.build.10gen.cc/" + options, {27017, 27018}};
    client.all_are_routers();
    EXPECT_EQ(client.topology->type, topology_type::sharded);
    return client;
}

TEST(srv_poll, prose_1_addition_of_a_record)
{
    polling_client client = of_test1();
    const server_ptr kept = client.topology->find(router(27017));
    client.run_for_two_intervals(records({27017, 27018, 27019}));
    EXPECT_EQ(client.servers(), routers({27017, 27018, 27019}));
    EXPECT_EQ(client.topology->find(router(27017)), kept) << "it must be left alone";
    EXPECT_EQ(client.topology->find(router(27019))->type, server_type::unknown);
}

TEST(srv_poll, prose_2_removal_of_a_record)
{
    polling_client client = of_test1();
    client.run_for_two_intervals(records({27017}));
    EXPECT_EQ(client.servers(), routers({27017}));
}

TEST(srv_poll, prose_3_replacement_of_a_record)
{
    polling_client client = of_test1();
    client.run_for_two_intervals(records({27017, 27019}));
    EXPECT_EQ(client.servers(), routers({27017, 27019}));
}

TEST(srv_poll, prose_4_replacement_of_both_records_by_one)
{
    polling_client client = of_test1();
    client.run_for_two_intervals(records({27019}));
    EXPECT_EQ(client.servers(), routers({27019}));
}

TEST(srv_poll, prose_5_replacement_of_both_records_by_two)
{
    polling_client client = of_test1();
    client.run_for_two_intervals(records({27019, 27020}));
    EXPECT_EQ(client.servers(), routers({27019, 27020}));
}

TEST(srv_poll, prose_6_and_7_failed_lookup_changes_nothing)
{
    for (const char* why : {"no answer before the deadline", "no such host"}) {
        SCOPED_TRACE(why);
        polling_client client = of_test1();
        const topology_ptr before = client.topology;
        client.run_for_two_intervals(error{bson::errc::invalid_value, why});
        EXPECT_EQ(client.topology, before);
        ASSERT_FALSE(client.warnings.empty());
        EXPECT_NE(client.warnings.front().find(why), std::string::npos);
    }
}

TEST(srv_poll, prose_8_removal_of_all_records_changes_nothing)
{
    polling_client client = of_test1();
    const topology_ptr before = client.topology;
    client.run_for_two_intervals(records({}));
    EXPECT_EQ(client.topology, before);
    EXPECT_FALSE(client.warnings.empty());
}

TEST(srv_poll, prose_9_load_balanced_clusters_are_not_polled)
{
    polling_client client{"mongodb+srv://test3.test.build.10gen.cc/?loadBalanced=true", {27017}};
    client.run_for_two_intervals(records({27017, 27018}));
    EXPECT_EQ(client.servers(), routers({27017}));
    EXPECT_TRUE(client.asked.empty());
}

TEST(srv_poll, prose_10_srv_max_hosts_0_uses_all_records)
{
    polling_client client = of_test1("?srvMaxHosts=0");
    client.run_for_two_intervals(records({27017, 27019, 27020}));
    EXPECT_EQ(client.servers(), routers({27017, 27019, 27020}));
}

TEST(srv_poll, prose_11_srv_max_hosts_not_exceeded_uses_all_records)
{
    polling_client client = of_test1("?srvMaxHosts=2");
    client.run_for_two_intervals(records({27019, 27020}));
    EXPECT_EQ(client.servers(), routers({27019, 27020}));
}

TEST(srv_poll, prose_12_new_records_are_drawn_above_srv_max_hosts)
{
    std::set<std::uint16_t> drawn;
    for (const double first : {0.0, 0.3, 0.6, 0.9}) {
        for (const double second : {0.0, 0.6}) {
            const std::array<double, 3> chances = {0, second, first};
            polling_client client = of_test1("?srvMaxHosts=2");
            client.run_for_two_intervals(records({27017, 27019, 27020}), chances);
            ASSERT_EQ(client.servers().size(), 2u);
            EXPECT_EQ(client.servers()[0], router(27017)) << "it was there before";
            drawn.insert(parts_of(client.servers()[1]).port);
        }
    }
    EXPECT_EQ(drawn, (std::set<std::uint16_t>{27019, 27020}));
}

TEST(srv_poll, prose_13_srv_service_name_is_used_for_polling)
{
    polling_client client{"mongodb+srv://test22.test.build.10gen.cc/?srvServiceName=customname",
                          {27017}};
    EXPECT_EQ(srv_query_name(client.settings.srv.value()),
              "_customname._tcp.test22.test.build.10gen.cc");
    client.run_for_two_intervals(records({27019, 27020}));
    EXPECT_EQ(client.servers(), routers({27019, 27020}));
}

TEST(srv_poll, only_unknown_and_sharded_topologies_are_polled)
{
    const std::map<topology_type, bool> table = {
        {topology_type::unknown, true},
        {topology_type::single, false},
        {topology_type::replica_set_no_primary, false},
        {topology_type::replica_set_with_primary, false},
        {topology_type::sharded, true},
        {topology_type::load_balanced, false},
    };
    for (const auto& [type, expected] : table) {
        topology_description t;
        t.type = type;
        EXPECT_EQ(polls_srv(t, srv_settings{.host = "c.example.com"}), expected) << name_of(type);
        EXPECT_FALSE(polls_srv(t, std::nullopt)) << name_of(type);
    }
}

TEST(srv_poll, rescan_interval_is_the_smallest_ttl_and_at_least_60_s)
{
    const auto of = [](std::chrono::seconds a, std::chrono::seconds b) {
        return srv_rescan_interval(std::vector<srv_host>{{"a", 1, a}, {"b", 2, b}});
    };
    EXPECT_EQ(of(300s, 86'400s), 300s);
    EXPECT_EQ(of(86'400s, 61s), 61s);
    EXPECT_EQ(of(59s, 300s), 60s);
    EXPECT_EQ(of(0s, 0s), 60s);
    EXPECT_EQ(srv_rescan_interval({}), 60s);
}

TEST(srv_poll, failed_lookup_is_repeated_every_heartbeat_frequency)
{
    polling_client client = of_test1("?heartbeatFrequencyMS=5000");
    const time_point first = now + 86'400s;
    client.run_until(first + 12s, error{bson::errc::invalid_value, "no answer"});
    EXPECT_EQ(client.asked, (std::vector{first, first + 5s, first + 10s}));
    client.run_until(first + 17s, records({}));
    EXPECT_EQ(client.asked.back(), first + 15s);
    client.run_until(first + 100s, records({27017, 27018}, 70s));
    EXPECT_EQ(client.asked.size(), 6u);
    EXPECT_EQ(client.asked[4], first + 20s);
    EXPECT_EQ(client.asked[5], first + 90s);
}

TEST(srv_poll, records_outside_the_domain_are_ignored)
{
    polling_client client = of_test1();
    auto some_evil = records({27017});
    some_evil.push_back({"localhost.evil.build.10gen.cc", 27018, 60s});
    client.run_for_two_intervals(some_evil);
    EXPECT_EQ(client.servers(), routers({27017}));
    ASSERT_FALSE(client.warnings.empty());
    EXPECT_NE(client.warnings.front().find("localhost.evil.build.10gen.cc"), std::string::npos);

    client.warnings.clear();
    const topology_ptr before = client.topology;
    client.run_for_two_intervals(std::vector<srv_host>{{"evil.example.com", 27017, 86'400s}});
    EXPECT_EQ(client.topology, before);
    EXPECT_EQ(client.next_poll.value() - client.asked.back(), 10s);
    EXPECT_GE(client.warnings.size(), 2u);
}

TEST(srv_poll, trailing_dot_of_a_host_is_removed)
{
    polling_client client = of_test1();
    auto full_names = records({27017, 27019});
    for (srv_host& record : full_names)
        record.host += '.';
    client.run_for_two_intervals(full_names);
    EXPECT_EQ(client.servers(), routers({27017, 27019}));
    EXPECT_TRUE(client.warnings.empty());
}

TEST(srv_poll, late_answer_does_not_change_a_replica_set)
{
    polling_client client{"mongodb+srv://test1.test.build.10gen.cc/", {27017, 27018}};
    ASSERT_TRUE(client.next_poll);
    client.topology = apply_check(client.topology,
                                  secondary("localhost.test.build.10gen.cc:27017",
                                            R"("localhost.test.build.10gen.cc:27017")"))
                          .after;
    ASSERT_EQ(client.topology->type, topology_type::replica_set_no_primary);
    const topology_ptr before = client.topology;
    client.run_for_two_intervals(records({27019}));
    EXPECT_EQ(client.topology, before);
    EXPECT_FALSE(client.next_poll) << "nor is there another look-up";
}

TEST(srv_poll, shuffle_can_draw_every_order)
{
    std::set<std::vector<std::uint16_t>> orders;
    for (const double first : {0.0, 0.4, 0.99}) {
        for (const double second : {0.0, 0.99}) {
            auto list = records({1, 2, 3});
            const std::array<double, 3> chances = {0.5, second, first};
            draw_order(list, chances);
            orders.insert({list[0].port, list[1].port, list[2].port});
        }
    }
    EXPECT_EQ(orders.size(), 6u);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::srv_poll_test
