#include "sdam_fixture.hpp"

#include <ctime>

/// What servers and name servers report has limits, and costs time in proportion to its size.
namespace holdfast::core::mongo::sdam_test::limits_test {
namespace {

std::string listed_hosts(int count, std::string_view prefix)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text.append(i == 0 ? "\"" : ", \"")
            .append(prefix)
            .append(std::to_string(i))
            .append(".example.com:27017\"");
    return text;
}

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

TEST(sdam_limits, hello_with_1000_hosts_is_followed)
{
    const transition t = apply_check(start({"a"}),
                                     secondary("a", R"("a", )" + listed_hosts(999, "h")));
    EXPECT_EQ(t.after->servers.size(), 1'000U);
    EXPECT_EQ(servers_of<start_monitor>(t).size(), 999U);
}

TEST(sdam_limits, hello_with_more_than_1000_hosts_is_an_error_with_both_numbers)
{
    struct row {
        std::string fields;
        const char* number;
    };
    const row table[] = {
        {R"("hosts": [)" + listed_hosts(1'001, "h") + "]", "1001"},
        {R"("hosts": [)" + listed_hosts(10'000, "h") + "]", "10000"},
        {R"("hosts": [)" + listed_hosts(600, "h") + R"(], "passives": [)" + listed_hosts(300, "p") +
             R"(], "arbiters": [)" + listed_hosts(200, "x") + "]",
         "1100"},
    };
    for (const row& r : table) {
        const server_description s = hello("a", R"("isWritablePrimary": true, "setName": "rs", )" +
                                                    r.fields);
        EXPECT_EQ(s.type, server_type::unknown);
        EXPECT_TRUE(s.hosts.empty() && s.passives.empty() && s.arbiters.empty());
        ASSERT_TRUE(s.failure);
        EXPECT_EQ(s.failure->message(),
                  "hello lists " + std::string{r.number} + " hosts, at most 1000 are accepted");
        const transition t = apply_check(start({"a"}), s);
        EXPECT_EQ(picture(*t.after), "Unknown a:Unknown");
        EXPECT_TRUE(servers_of<start_monitor>(t).empty());
    }
}

TEST(sdam_limits, hello_with_a_name_of_more_than_1000_bytes_is_an_error_with_both_numbers)
{
    const std::string longest(1'000, 'n');
    const auto named = [](const std::string& set, const std::string& host) {
        return hello("a", R"("secondary": true, "setName": ")" + set + R"(", "passives": [")" +
                              host + R"("])");
    };
    EXPECT_EQ(named(longest, longest).type, server_type::rs_secondary);
    for (const server_description& s : {named(longest + "n", "h"), named("rs", longest + "n")}) {
        EXPECT_EQ(s.type, server_type::unknown);
        ASSERT_TRUE(s.failure);
        EXPECT_EQ(s.failure->message(),
                  "hello has a name of 1001 bytes, at most 1000 are accepted");
    }
}

TEST(sdam_limits, me_and_primary_are_names_too)
{
    for (const char* const field : {"me", "primary"}) {
        const server_description s = hello("a", R"("secondary": true, "setName": "rs", ")" +
                                                    std::string{field} + R"(": ")" +
                                                    std::string(1'001, 'n') + '"');
        ASSERT_TRUE(s.failure) << field;
        EXPECT_NE(s.failure->message().find("a name of 1001 bytes"), std::string::npos);
    }
}

TEST(sdam_limits, hello_with_more_than_64_kb_of_tags_is_an_error_with_both_numbers)
{
    const auto tagged = [](std::size_t length) {
        return hello("a", R"("secondary": true, "setName": "rs", "tags": {"t": ")" +
                              std::string(length, 'v') + R"("})");
    };
    constexpr std::size_t frame = 13;  // of a document with one text under a name of one letter
    EXPECT_EQ(tagged(65'536 - frame).type, server_type::rs_secondary);
    const server_description s = tagged(65'537 - frame);
    EXPECT_EQ(s.type, server_type::unknown);
    EXPECT_TRUE(s.tags.empty());
    ASSERT_TRUE(s.failure);
    EXPECT_EQ(s.failure->message(), "hello has tags of 65537 bytes, at most 65536 are accepted");
}

TEST(sdam_limits, members_that_secondaries_name_do_not_add_up_beyond_1000)
{
    const topology_ptr first = apply_check(start({"a", "b"}),
                                           secondary("a", R"("a", "b", )" + listed_hosts(900, "h")))
                                   .after;
    ASSERT_EQ(first->servers.size(), 902U);
    const transition t = apply_check(first,
                                     secondary("b", R"("a", "b", )" + listed_hosts(900, "other")));
    EXPECT_EQ(t.after->servers.size(), 1'000U);
    EXPECT_TRUE(std::ranges::is_sorted(t.after->servers, {},
                                       [](const server_ptr& s) { return s->address; }));
    std::string warning;
    for (const effect& e : t.effects) {
        if (const auto* found = std::get_if<warn>(&e))
            warning = found->text;
    }
    EXPECT_NE(warning.find("802 members that b:27017 names are ignored"), std::string::npos)
        << warning;
}

TEST(sdam_limits, names_in_two_lists_are_added_once_and_in_order)
{
    const transition t = apply_check(start({"m"}),
                                     hello("m", R"("isWritablePrimary": true, "setName": "rs",
                                  "hosts": ["z", "m", "b"], "passives": ["b", "a"],
                                  "arbiters": ["z", "y"])"));
    EXPECT_EQ(picture(*t.after),
              "ReplicaSetWithPrimary a:Unknown b:Unknown m:RSPrimary y:Unknown z:Unknown");
    EXPECT_EQ(servers_of<start_monitor>(t), (std::vector<std::string>{"b", "z", "a", "y"}));
}

TEST(sdam_limits, srv_records_cost_time_in_proportion_to_their_number)
{
    constexpr int count = 20'000;
    const auto hosts = [](std::string_view prefix) {
        std::vector<endpoint> all;
        for (int i = 0; i < count; ++i)
            all.emplace_back(std::string{prefix} + std::to_string(i) + ".example.com:27017");
        return all;
    };
    const auto before = hosts("old");
    const auto after = hosts("new");
    const double began = cpu_seconds();
    const topology_ptr first = apply_srv(start({"a"}), before, 0).after;
    const transition second = apply_srv(first, after, 0);
    EXPECT_LT(cpu_seconds() - began, 1.0);
    EXPECT_EQ(second.after->servers.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(servers_of<stop_monitor>(second).size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::limits_test
