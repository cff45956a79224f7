#include "api/mongo/access.hpp"
#include "client/traffic.hpp"

#include <memory>
#include <string>
#include <vector>

/// Commands that get no reply, while the server's monitor is content.
namespace holdfast::proof::overdue_test {
namespace {

using namespace std::chrono_literals;

/// Keeps the events and the warnings about commands that are overdue.
class overdue_watch final : public mongo::event_listener, public log_sink {
public:
    using mongo::event_listener::on;
    void on(const mongo::events::command_overdue& e) noexcept override { events.push_back(e); }

    bool wants(log_component, severity level) const noexcept override
    {
        return level == severity::warning;
    }
    void write(const log_record& record) noexcept override
    {
        warnings.emplace_back(record.message);
    }

    std::vector<mongo::events::command_overdue> events;
    std::vector<std::string> warnings;
};

std::shared_ptr<overdue_watch> connect_watched(scene& s, const std::string& uri)
{
    s.server("a").on_command("insert", [](const scripted_command&) { return keep_silent(); });
    const auto watch = std::make_shared<overdue_watch>();
    mongo::client_options options;
    options.listeners.push_back(watch);
    options.log = watch;
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &s.app.world()};
    s.client.emplace(mongo::access::in_world(world, uri, options).value());
    s.settle();
    return watch;
}

TEST(client_overdue, command_without_a_reply_is_reported_once)
{
    scene s{{.hosts = {"a"}}};
    const auto watch = connect_watched(s, "mongodb://a:27017/?replicaSet=rs");
    const operation& op = s.start(insert_of(1));
    s.simulation.run_for(29s);
    EXPECT_TRUE(watch->events.empty());
    s.simulation.run_for(12s);  // a heartbeat takes 10
    ASSERT_EQ(watch->events.size(), 1U);
    EXPECT_EQ(watch->events[0].command_name, "insert");
    EXPECT_EQ(watch->events[0].server.value(), "a:27017");
    EXPECT_GE(watch->events[0].waited, 30s);
    EXPECT_EQ(watch->warnings, std::vector<std::string>{"Command has had no reply for long"});
    s.simulation.run_for(60s);
    EXPECT_EQ(watch->events.size(), 1U);
    EXPECT_FALSE(op.done());
    s.client.reset();
    s.simulation.run_for(1s);
}

TEST(client_overdue, command_behind_a_load_balancer_is_reported_although_nothing_monitors)
{
    scene s{{.hosts = {"a"}, .sharded = true}};
    s.simulation.run_for(1ms);  // the server begins to listen
    const auto before = s.simulation.left();
    s.server("a").on_hello(
        [](const scripted_command&) { return scripted_reply{.body = hello_of_service()}; });
    const auto watch = connect_watched(s, "mongodb://a:27017/?loadBalanced=true");
    const operation& op = s.start(insert_of(1));
    s.simulation.run_for(29s);
    EXPECT_TRUE(watch->events.empty());
    s.simulation.run_for(12s);
    ASSERT_EQ(watch->events.size(), 1U);
    EXPECT_EQ(watch->events[0].server.value(), "a:27017");
    EXPECT_FALSE(op.done());
    s.client.reset();
    s.simulation.run_for(30s);
    EXPECT_EQ(s.simulation.left(), before);
}

}  // namespace
}  // namespace holdfast::proof::overdue_test
