#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

/// What users are told, and in which order.
namespace holdfast::core::mongo::sdam_test {
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

TEST(events, of_a_client_that_opens_and_closes)
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

TEST(events, who_is_only_said_to_be_the_primary_is_no_news)
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

TEST(events, of_a_load_balanced_client)
{
    topology_settings settings;
    settings.seeds = {at("a")};
    settings.load_balanced = true;
    EXPECT_EQ(received(open_topology(settings)),
              (names{"opening", "topology Unknown>LoadBalanced", "+a", "a Unknown>LoadBalancer",
                     "topology LoadBalanced>LoadBalanced"}));
}

TEST(events, of_a_client_without_seeds)
{
    topology_settings settings;
    settings.seeds.clear();
    EXPECT_EQ(received(open_topology(settings)), names{"opening"});
}

TEST(events, of_a_discovery_come_in_the_order_of_its_steps)
{
    const transition t = apply_check(start({"a", "z"}), primary("a", R"("a", "b")"));
    EXPECT_EQ(received(t),
              (names{"a Unknown>RSPrimary", "+b", "-z", "topology Unknown>ReplicaSetWithPrimary"}));
}

TEST(events, of_a_new_primary_tell_of_the_old_one)
{
    const topology_ptr before = after(start({"a", "b"}), {primary("a", R"("a", "b")")});
    EXPECT_EQ(received(apply_check(before, primary("b", R"("a", "b")"))),
              (names{"b Unknown>RSPrimary", "a RSPrimary>Unknown",
                     "topology ReplicaSetWithPrimary>ReplicaSetWithPrimary"}));
}

TEST(events, of_a_server_that_is_removed_say_what_it_had_become)
{
    const topology_ptr before = after(start({"a", "b"}), {primary("a", R"("a", "b")")});
    EXPECT_EQ(received(apply_check(before, hello("b", ""))),
              (names{"b Unknown>Standalone", "-b",
                     "topology ReplicaSetWithPrimary>ReplicaSetWithPrimary"}));
}

TEST(events, are_not_sent_when_nothing_changed)
{
    const server_description reply = primary("a", R"("a")");
    const topology_ptr before = after(start({"a"}), {reply});
    EXPECT_EQ(received(apply_check(before, reply)), names{});
}

TEST(events, hold_the_descriptions_before_and_after)
{
    const topology_ptr before = start({"a"});
    const transition t = apply_check(before, primary("a", R"("a")"));
    const auto& changed = std::get<topology_description_changed>(t.events.back());
    EXPECT_EQ(changed.previous, before);
    EXPECT_EQ(changed.current, t.after);
}

TEST(srv, hosts_that_dns_no_longer_names_go_and_new_ones_come)
{
    const topology_ptr before = start({"a", "b", "c"});
    const transition t = apply_srv(before, {at("c"), at("d")}, 0);
    EXPECT_EQ(picture(*t.after), "Unknown c:Unknown d:Unknown");
    EXPECT_EQ(received(t), (names{"-a", "-b", "+d", "topology Unknown>Unknown"}));
    EXPECT_EQ(servers_of<start_monitor>(t), names{"d"});
    EXPECT_EQ(servers_of<stop_monitor>(t), (names{"a", "b"}));
}

TEST(srv, no_more_hosts_than_wanted_are_added)
{
    const topology_ptr before = start({"a", "b"});
    const std::vector<endpoint> resolved{at("e"), at("d"), at("a"), at("c")};
    EXPECT_EQ(picture(*apply_srv(before, resolved, 2).after), "Unknown a:Unknown e:Unknown");
    EXPECT_EQ(picture(*apply_srv(before, resolved, 3).after),
              "Unknown a:Unknown d:Unknown e:Unknown");
    EXPECT_EQ(apply_srv(before, resolved, 0).after->servers.size(), 4u);
}

TEST(srv, an_empty_answer_changes_nothing)
{
    const topology_ptr before = start({"a", "b"});
    EXPECT_EQ(apply_srv(before, {}, 0).after, before);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test
