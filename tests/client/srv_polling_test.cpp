#include "client/traffic.hpp"
#include "runtime/wait.hpp"
#include "support/other_world.hpp"

#include <algorithm>
#include <set>

namespace holdfast::proof::srv_polling_test {
namespace {

using namespace std::chrono_literals;
using names = std::set<std::string>;

/// A world that remembers who looked up what, and can give a wrong answer.
class dns_world final : public other_world {
public:
    using other_world::other_world;

    runtime::awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(
        std::string name, time_point until) override
    {
        asked.push_back(name);
        when.push_back(steady_now());
        if (answer)
            return wrong(*answer, silent ? until : steady_now());
        return other_world::resolve_srv(std::move(name), until);
    }

    std::vector<std::string> asked;
    std::vector<time_point> when;
    std::optional<error> answer;
    bool silent = false;  // then the answer comes after the lookup has ended

private:
    runtime::awaitable<result<std::vector<runtime::srv_record>>> wrong(error why, time_point at)
    {
        (void)co_await runtime::sleep_until(*this, at);
        co_return std::move(why);
    }
};

/// Keeps warnings.
class warnings final : public log_sink {
public:
    bool wants(log_component, severity) const noexcept override { return true; }
    void write(const log_record& record) noexcept override
    {
        if (record.level > severity::warning)
            return;
        text += std::string{record.message} + "\n";
        for (const log_field& field : record.fields) {
            if (const auto* const value = std::get_if<std::string_view>(&field.value))
                text += std::string{*value} + "\n";
        }
    }
    std::string text;
};

constexpr const char* query = "_mongodb._tcp.cluster.home.test";

/// A cluster of four routers, found by their SRV records.
class cluster {
public:
    explicit cluster(scene_options options = {.hosts = {"h1.home.test", "h2.home.test",
                                                        "h3.home.test", "h4.home.test"},
                                              .sharded = true})
        : s{std::move(options)},
          world{std::make_shared<dns_world>(s.app.world())},
          log{std::make_shared<warnings>()}
    {
        s.log = log;
    }

    void publish(const std::vector<std::string>& hosts, std::uint32_t ttl = 0,
                 const std::string& name = query)
    {
        std::vector<runtime::srv_record> records;
        for (const std::string& host : hosts)
            records.push_back({.host = host.find('.') == host.npos ? host + ".home.test" : host,
                               .port = 27017,
                               .ttl = ttl});
        s.simulation.set_srv(name, std::move(records));
    }

    void open(const std::string& more = {})
    {
        s.connect_in(world, "mongodb+srv://cluster.home.test/?tls=false" + more);
        s.settle(1s);
    }

    /// Those of the topology.
    names hosts() const
    {
        const auto changes = s.events().of(heard::topology_changed);
        names found;
        if (changes.empty())
            return found;
        for (const auto& [address, type] : changes.back().members)
            found.insert(address.substr(0, address.find('.')));
        return found;
    }

    std::size_t look_ups() const { return world->asked.size(); }

    /// Between one look-up and the next.
    duration between(std::size_t first) const
    {
        return std::chrono::round<std::chrono::seconds>(world->when.at(first + 1) -
                                                        world->when.at(first));
    }

    scene s;
    std::shared_ptr<dns_world> world;
    std::shared_ptr<warnings> log;
};

TEST(client_srv_polling, prose_1_to_5_added_and_removed_records_are_followed)
{
    const std::vector<std::string> before = {"h1", "h2"};
    const std::vector<std::vector<std::string>> changes = {
        {"h1", "h2", "h3"},  // prose test 1: one is added
        {"h1"},              // 2: one is removed
        {"h1", "h3"},        // 3: one is replaced
        {"h3"},              // 4: all are replaced by one
        {"h3", "h4"},        // 5: and by several
    };
    for (const auto& after : changes) {
        cluster c;
        c.publish(before);
        c.open();
        EXPECT_EQ(c.hosts(), names(before.begin(), before.end()));
        ASSERT_TRUE(c.s.run(ping_command()).good());
        c.publish(after);
        c.s.simulation.run_for(50s);
        EXPECT_EQ(c.hosts(), names(before.begin(), before.end())) << "no look-up is due yet";
        EXPECT_EQ(c.look_ups(), 1U);
        c.s.simulation.run_for(15s);
        EXPECT_EQ(c.look_ups(), 2U);
        EXPECT_EQ(c.between(0), 60s);
        EXPECT_EQ(c.hosts(), names(after.begin(), after.end()));
        for (int i = 0; i < 10; ++i)
            EXPECT_TRUE(c.s.run(ping_command()).good());
        for (const std::string& host : before) {
            const bool gone = std::ranges::find(after, host) == after.end();
            const std::string name = host + ".home.test";
            EXPECT_EQ(c.s.server(name).open_connections() == 0, gone) << host;
            EXPECT_EQ(c.s.events().count(heard::pool_closed, name + ":27017"), gone ? 1U : 0U);
        }
        EXPECT_EQ(c.log->text, "");
        expect_clean(c.s);
    }
}

/// Nothing changes while look-ups go wrong, and they come as often as heartbeats; afterwards all is
/// as it was.
void stays_while(const std::function<void(cluster&)>& break_it,
                 const std::function<void(cluster&)>& mend_it, duration spacing)
{
    cluster c;
    c.publish({"h1", "h2"});
    c.open("&heartbeatFrequencyMS=5000&serverSelectionTimeoutMS=3000");
    ASSERT_EQ(c.hosts(), (names{"h1", "h2"}));
    break_it(c);
    c.s.simulation.run_for(90s);
    EXPECT_EQ(c.hosts(), (names{"h1", "h2"}));
    const std::size_t asked = c.look_ups();
    ASSERT_GE(asked, 4U);
    EXPECT_EQ(c.between(0), 60s);
    for (std::size_t i = 1; i + 1 < asked; ++i)
        EXPECT_EQ(c.between(i), spacing) << i;
    EXPECT_NE(c.log->text.find("cluster.home.test"), std::string::npos) << "no warning";
    EXPECT_TRUE(c.s.run(ping_command()).good());
    mend_it(c);
    c.publish({"h1", "h3"});
    c.s.simulation.run_for(spacing + 1s);
    EXPECT_EQ(c.hosts(), (names{"h1", "h3"}));
    const std::size_t mended = c.look_ups();
    c.s.simulation.run_for(59s - spacing);
    EXPECT_EQ(c.look_ups(), mended) << "the old interval holds again";
    c.s.simulation.run_for(spacing + 2s);
    EXPECT_EQ(c.look_ups(), mended + 1);
    expect_clean(c.s);
}

TEST(client_srv_polling, prose_6_lookup_timeout_keeps_the_topology)  // prose test 6
{
    const auto silence = [](cluster& c) {
        c.world->answer = error{runtime::errc::name_lookup_failed, "no answer came"};
        c.world->silent = true;
    };
    stays_while(silence, [](cluster& c) { c.world->answer.reset(); }, 8s);  // waits 3 s for each
}

TEST(client_srv_polling, prose_7_failed_lookup_keeps_the_topology)  // prose test 7
{
    stays_while([](cluster& c) { c.world->answer = error{runtime::errc::not_available, "kaput"}; },
                [](cluster& c) { c.world->answer.reset(); }, 5s);
}

TEST(client_srv_polling, prose_8_empty_answer_keeps_the_topology)  // prose test 8
{
    stays_while([](cluster& c) { c.publish({}); }, [](cluster&) {}, 5s);
}

TEST(client_srv_polling, replica_set_is_not_polled)
{
    cluster c{{.hosts = {"h1.home.test", "h2.home.test"}}};
    c.publish({"h1"});
    c.open();
    EXPECT_TRUE(c.s.run(ping_command()).good());
    EXPECT_EQ(c.hosts(), (names{"h1", "h2"})) << "the set itself says who belongs to it";
    c.publish({"h2"});
    c.s.simulation.run_for(5min);
    EXPECT_EQ(c.look_ups(), 1U);
    EXPECT_EQ(c.hosts(), (names{"h1", "h2"}));
    expect_clean(c.s);
}

TEST(client_srv_polling, unknown_topology_is_polled_again)
{
    cluster c;
    c.s.host("h1.home.test").crash();
    c.publish({"h1"});
    c.open("&serverSelectionTimeoutMS=90000");
    operation& op = c.s.start(ping_command());
    c.s.simulation.run_for(5s);
    EXPECT_FALSE(op.done());
    c.publish({"h4"});
    ASSERT_TRUE(c.s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(c.hosts(), names{"h4"});
    expect_clean(c.s);
}

TEST(client_srv_polling, prose_10_and_11_srv_max_hosts_not_exceeded_uses_all)
{
    for (const char* const most : {"0", "2"}) {  // prose tests 10 and 11
        cluster c;
        c.publish({"h1", "h2"});
        c.open(std::string{"&srvMaxHosts="} + most);
        EXPECT_EQ(c.hosts(), (names{"h1", "h2"}));
        const bool two = *most == '2';
        c.publish(two ? std::vector<std::string>{"h1", "h3"}
                      : std::vector<std::string>{"h1", "h3", "h4"});
        c.s.simulation.run_for(65s);
        EXPECT_EQ(c.hosts(), two ? (names{"h1", "h3"}) : (names{"h1", "h3", "h4"}));
        expect_clean(c.s);
    }
}

TEST(client_srv_polling, prose_12_srv_max_hosts_keeps_known_and_draws_others)  // prose test 12
{
    names drawn;
    names first;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        cluster c{{.seed = seed,
                   .hosts = {"h1.home.test", "h2.home.test", "h3.home.test", "h4.home.test"},
                   .sharded = true}};
        c.publish({"h1", "h2"});
        c.open("&srvMaxHosts=2");
        EXPECT_EQ(c.hosts(), (names{"h1", "h2"}));
        c.publish({"h1", "h3", "h4"});
        c.s.simulation.run_for(65s);
        const names found = c.hosts();
        EXPECT_EQ(found.size(), 2U);
        EXPECT_TRUE(found.contains("h1"));
        drawn.insert(found.begin(), found.end());
        expect_clean(c.s);

        cluster fewer{{.seed = seed,
                       .hosts = {"h1.home.test", "h2.home.test", "h3.home.test"},
                       .sharded = true}};
        fewer.publish({"h1", "h2", "h3"});
        fewer.open("&srvMaxHosts=1");
        EXPECT_EQ(fewer.hosts().size(), 1U);
        first.merge(fewer.hosts());
        expect_clean(fewer.s);
    }
    EXPECT_EQ(drawn, (names{"h1", "h3", "h4"})) << "the same one is drawn again and again";
    EXPECT_EQ(first, (names{"h1", "h2", "h3"}));
}

TEST(client_srv_polling, prose_13_srv_service_name_is_used)  // prose test 13
{
    cluster c;
    const std::string other = "_customname._tcp.cluster.home.test";
    c.publish({"h1", "h2"}, 0, other);
    c.open("&srvServiceName=customname");
    EXPECT_EQ(c.hosts(), (names{"h1", "h2"}));
    c.publish({"h3"}, 0, other);
    c.s.simulation.run_for(65s);
    EXPECT_EQ(c.hosts(), names{"h3"});
    EXPECT_EQ(c.world->asked, (std::vector<std::string>{other, other}));
    expect_clean(c.s);
}

TEST(client_srv_polling, rescan_interval_is_the_ttl_and_at_least_60_s)
{
    cluster c;
    c.publish({"h1"}, 90);
    c.open();
    c.s.simulation.run_for(100s);
    ASSERT_EQ(c.look_ups(), 2U);
    EXPECT_EQ(c.between(0), 90s);
    c.publish({"h1"}, 5);
    c.s.simulation.run_for(200s);
    ASSERT_EQ(c.look_ups(), 5U);
    EXPECT_EQ(c.between(1), 90s);
    EXPECT_EQ(c.between(2), 60s);
    EXPECT_EQ(c.between(3), 60s);
    expect_clean(c.s);
}

TEST(client_srv_polling, host_outside_the_domain_is_ignored_with_a_warning)
{
    cluster c;
    c.s.simulation.add_host("h2.weed.test");
    c.publish({"h1", "h2"});
    c.open("&heartbeatFrequencyMS=5000");
    c.publish({"h1", "h3", "h2.weed.test"});
    c.s.simulation.run_for(65s);
    EXPECT_EQ(c.hosts(), (names{"h1", "h3"}));
    EXPECT_NE(c.log->text.find("h2.weed.test"), std::string::npos) << c.log->text;
    // If no host can be trusted, nothing changes, and the next lookup comes soon.
    c.publish({"h2.weed.test"});
    c.s.simulation.run_for(65s);
    EXPECT_EQ(c.hosts(), (names{"h1", "h3"}));
    const std::size_t asked = c.look_ups();
    c.s.simulation.run_for(5s);
    EXPECT_EQ(c.look_ups(), asked + 1);
    expect_clean(c.s);
}

TEST(client_srv_polling, prose_9_load_balancer_is_not_polled)  // prose test 9
{
    cluster c{{.hosts = {"h1.home.test", "h2.home.test"}, .sharded = true}};
    for (const char* const name : {"h1.home.test", "h2.home.test"}) {
        c.s.server(name).on_hello([&c](const scripted_command& asked) {
            bson::byte_buffer bytes;
            bson::builder out{bytes};
            out.merge(c.s.set.hello_of("h1.home.test:27017").view());
            if (asked.body["loadBalanced"])
                out.add("serviceId", bson::object_id{});
            (void)out.finish().value();
            return scripted_reply{bson::document::adopt(std::move(bytes))};
        });
    }
    c.publish({"h1"});
    c.open("&loadBalanced=true");
    const operation& op = c.s.run(ping_command());
    ASSERT_TRUE(op.good()) << op.explain();
    c.publish({"h1", "h2"});
    c.s.simulation.run_for(5min);
    EXPECT_EQ(c.look_ups(), 1U);
    EXPECT_EQ(c.hosts(), names{"h1"});
    EXPECT_TRUE(c.s.run(ping_command()).good());
    expect_clean(c.s);
}

}  // namespace
}  // namespace holdfast::proof::srv_polling_test
