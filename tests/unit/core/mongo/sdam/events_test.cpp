#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

/// The events that are published, and their order.
namespace holdfast::core::mongo::sdam_test::events_test {
namespace {

std::string token(const topology_opening&)
{
    return "opening";
}
std::string token(const topology_closed&)
{
    return "closed";
}
std::string token(const topology_description_changed& e)
{
    return "topology " + std::string{name_of(e.previous->type)} + ">" +
           std::string{name_of(e.current->type)};
}
std::string token(const server_opening& e)
{
    return "+" + parts_of(e.address).host;
}
std::string token(const server_closed& e)
{
    return "-" + parts_of(e.address).host;
}
std::string token(const server_description_changed& e)
{
    return parts_of(e.current->address).host + " " + std::string{name_of(e.previous->type)} + ">" +
           std::string{name_of(e.current->type)};
}

names received(const transition& t)
{
    names all;
    for (const sdam_event& e : t.events)
        all.push_back(std::visit([](const auto& one) { return token(one); }, e));
    return all;
}

TEST(sdam_events, client_open_and_close_publish_opening_and_closed)
{
    topology_settings settings;
    settings.seeds = {at("b"), at("a")};
    const transition first = open_topology(settings);
    EXPECT_EQ(received(first), (names{"opening", "topology Unknown>Unknown", "+a", "+b"}));
    EXPECT_EQ(servers_of<start_monitor>(first), (names{"a", "b"}));
    const auto& start_event = std::get<topology_description_changed>(first.events[1]);
    EXPECT_TRUE(start_event.previous->servers.empty());
    EXPECT_EQ(start_event.current, first.after);
    const transition last = close_topology(first.after);
    EXPECT_EQ(received(last), (names{"-a", "-b", "topology Unknown>Unknown", "closed"}));
    EXPECT_EQ(servers_of<stop_monitor>(last), (names{"a", "b"}));
    EXPECT_TRUE(last.after->servers.empty());
}

TEST(sdam_events, possible_primary_publishes_no_event)
{
    VERIFIES("SD-018");
    const auto down = [](std::string_view host) {
        return unknown_server(
            at(host), error{make_error_code(boost::system::errc::io_error), "down"}, {}, {});
    };
    const auto says_b = [](std::string_view host) {
        return secondary(host, R"("a", "b")", R"("primary": "b")");
    };
    const topology_ptr b_is_down = after(start({"a", "b"}),
                                         {secondary("a", R"("a", "b")"), down("b")});
    const transition hint = apply_check(b_is_down, says_b("a"));
    EXPECT_EQ(picture(*hint.after), "ReplicaSetNoPrimary a:RSSecondary b:PossiblePrimary");
    const transition still_down = apply_check(hint.after, down("b"));
    EXPECT_EQ(received(still_down), names{});
    EXPECT_EQ(received(apply_check(still_down.after, says_b("a"))), names{});
}

TEST(sdam_events, load_balanced_client_publishes_load_balancer_at_once)
{
    topology_settings settings;
    settings.seeds = {at("a")};
    settings.load_balanced = true;
    EXPECT_EQ(received(open_topology(settings)),
              (names{"opening", "topology Unknown>LoadBalanced", "+a", "a Unknown>LoadBalancer",
                     "topology LoadBalanced>LoadBalanced"}));
}

TEST(sdam_events, client_without_seeds_publishes_opening_only)
{
    topology_settings settings;
    settings.seeds.clear();
    EXPECT_EQ(received(open_topology(settings)), names{"opening"});
}

TEST(sdam_events, discovery_publishes_in_the_specified_order)
{
    const transition t = apply_check(start({"a", "z"}), primary("a", R"("a", "b")"));
    EXPECT_EQ(received(t),
              (names{"a Unknown>RSPrimary", "+b", "-z", "topology Unknown>ReplicaSetWithPrimary"}));
}

TEST(sdam_events, new_primary_publishes_the_old_one_as_unknown)
{
    const topology_ptr before = after(start({"a", "b"}), {primary("a", R"("a", "b")")});
    EXPECT_EQ(received(apply_check(before, primary("b", R"("a", "b")"))),
              (names{"b Unknown>RSPrimary", "a RSPrimary>Unknown",
                     "topology ReplicaSetWithPrimary>ReplicaSetWithPrimary"}));
}

TEST(sdam_events, removed_server_publishes_its_last_description)
{
    const topology_ptr before = after(start({"a", "b"}), {primary("a", R"("a", "b")")});
    EXPECT_EQ(received(apply_check(before, hello("b", ""))),
              (names{"b Unknown>Standalone", "-b",
                     "topology ReplicaSetWithPrimary>ReplicaSetWithPrimary"}));
}

TEST(sdam_events, equal_description_publishes_no_event)
{
    const server_description reply = primary("a", R"("a")");
    const topology_ptr before = after(start({"a"}), {reply});
    EXPECT_EQ(received(apply_check(before, reply)), names{});
}

TEST(sdam_events, events_hold_previous_and_new_description)
{
    const topology_ptr before = start({"a"});
    const transition t = apply_check(before, primary("a", R"("a")"));
    const auto& changed = std::get<topology_description_changed>(t.events.back());
    EXPECT_EQ(changed.previous, before);
    EXPECT_EQ(changed.current, t.after);
}

TEST(srv_update, removed_records_drop_servers_and_new_records_add_them)
{
    const topology_ptr before = start({"a", "b", "c"});
    const transition t = apply_srv(before, {at("c"), at("d")}, 0);
    EXPECT_EQ(picture(*t.after), "Unknown c:Unknown d:Unknown");
    EXPECT_EQ(received(t), (names{"-a", "-b", "+d", "topology Unknown>Unknown"}));
    EXPECT_EQ(servers_of<start_monitor>(t), names{"d"});
    EXPECT_EQ(servers_of<stop_monitor>(t), (names{"a", "b"}));
}

TEST(srv_update, srv_max_hosts_limits_the_added_hosts)
{
    const topology_ptr before = start({"a", "b"});
    const std::vector<endpoint> resolved{at("e"), at("d"), at("a"), at("c")};
    EXPECT_EQ(picture(*apply_srv(before, resolved, 2).after), "Unknown a:Unknown e:Unknown");
    EXPECT_EQ(picture(*apply_srv(before, resolved, 3).after),
              "Unknown a:Unknown d:Unknown e:Unknown");
    EXPECT_EQ(apply_srv(before, resolved, 0).after->servers.size(), 4u);
}

TEST(srv_update, empty_answer_keeps_the_topology)
{
    const topology_ptr before = start({"a", "b"});
    EXPECT_EQ(apply_srv(before, {}, 0).after, before);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::events_test
