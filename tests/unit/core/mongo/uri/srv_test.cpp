#include "core/mongo/error/errc.hpp"
#include "core/mongo/sdam/topology_description.hpp"
#include "core/mongo/uri/uri.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::srv_test {
namespace {

parsed_uri parse(std::string_view text)
{
    auto parsed = parse_uri(text);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message());
    return parsed ? *std::move(parsed) : parsed_uri{};
}

const srv_answer two_hosts{{{"One.test.example.com", 27017}, {"two.test.example.com.", 27018}}, {}};
const srv_answer one_host{{{"one.test.example.com", 27017}}, {}};

TEST(srv_uri, parsing_needs_no_lookup)
{
    const parsed_uri found = parse(
        "mongodb+srv://ada:lovelace@Cluster.Test.Example.com./"
        "db?srvServiceName=custom&srvMaxHosts=3");
    EXPECT_TRUE(found.settings.seeds.empty());
    ASSERT_TRUE(found.settings.srv);
    EXPECT_EQ(*found.settings.srv, (srv_settings{"cluster.test.example.com", "custom", 3}));
    EXPECT_EQ(srv_query_name(*found.settings.srv), "_custom._tcp.cluster.test.example.com");
    EXPECT_EQ(srv_query_name(*parse("mongodb+srv://a.b.c").settings.srv), "_mongodb._tcp.a.b.c");
    EXPECT_TRUE(uses_tls(found.settings));
    EXPECT_FALSE(uses_tls(parse("mongodb+srv://a.b.c/?tls=false").settings));
    EXPECT_EQ(found.settings.database, "db");
    EXPECT_TRUE(found.warnings.empty());
}

TEST(srv_uri, several_hosts_or_a_port_are_refused)
{
    for (const std::string_view text :
         {"mongodb+srv://a.b.c,d.e.f", "mongodb+srv://a.b.c:27017", "mongodb+srv://[::1]",
          "mongodb+srv://%2Ftmp%2Fa.sock", "mongodb+srv://a..c", "mongodb+srv://.a.b",
          "mongodb+srv://.", "mongodb+srv://a%20b.c.d", "mongodb+srv://"}) {
        const auto parsed = parse_uri(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code(), errc::invalid_connection_string);
    }
}

TEST(srv_uri, seeds_keep_the_order_of_the_answer)
{
    const auto all = resolve_srv(parse("mongodb+srv://c.test.example.com/"), two_hosts);
    ASSERT_TRUE(all) << all.error().message();
    EXPECT_EQ(all->settings.seeds, (std::vector{endpoint{"one.test.example.com:27017"},
                                                endpoint{"two.test.example.com:27018"}}));
    EXPECT_TRUE(all->settings.srv);
    struct row {
        std::string_view text;
        std::size_t seeds;
    };
    for (const row& r : {row{"mongodb+srv://c.test.example.com/?srvMaxHosts=0", 2},
                         row{"mongodb+srv://c.test.example.com/?srvMaxHosts=1", 1},
                         row{"mongodb+srv://c.test.example.com/?srvMaxHosts=2", 2},
                         row{"mongodb+srv://c.test.example.com/?srvMaxHosts=3", 2}}) {
        const auto some = resolve_srv(parse(r.text), two_hosts);
        ASSERT_TRUE(some) << r.text;
        EXPECT_EQ(some->settings.seeds.size(), r.seeds) << r.text;
        EXPECT_EQ(some->settings.seeds.front().value(), "one.test.example.com:27017");
    }
}

TEST(srv_uri, topology_starts_unknown_for_any_number_of_hosts)
{
    VERIFIES("SD-041");
    for (const srv_answer& answer : {one_host, two_hosts}) {
        const auto s = resolve_srv(parse("mongodb+srv://c.test.example.com/"), answer).value();
        EXPECT_EQ(initial_topology({s.settings.seeds, s.settings.replica_set,
                                    s.settings.direct_connection, s.settings.load_balanced})
                      .type,
                  topology_type::unknown);
    }
}

TEST(srv_uri, txt_record_may_set_three_options)
{
    srv_answer answer = one_host;
    answer.txt = {"replicaSet=rs&authSource=thisDB"};
    const parsed_uri plain = parse("mongodb+srv://ada:lovelace@c.test.example.com/db");
    const auto merged = resolve_srv(plain, answer);
    ASSERT_TRUE(merged) << merged.error().message();
    EXPECT_EQ(merged->settings.replica_set, "rs");
    EXPECT_EQ(merged->settings.credential->source, "thisDB");
    EXPECT_TRUE(merged->warnings.empty());

    const auto own = resolve_srv(
        parse("mongodb+srv://ada:lovelace@c.test.example.com/?AUTHSOURCE=mine"), answer);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->settings.credential->source, "mine");
    EXPECT_EQ(own->settings.replica_set, "rs");
    EXPECT_TRUE(own->warnings.empty()) << own->warnings.front();

    answer.txt = {"loadBalanced=true"};
    EXPECT_TRUE(resolve_srv(plain, answer).value().settings.load_balanced);
    EXPECT_FALSE(resolve_srv(parse("mongodb+srv://c.test.example.com/?loadBalanced=false"), answer)
                     .value()
                     .settings.load_balanced);
    answer.txt = {"loadBalanced=maybe"};
    EXPECT_EQ(resolve_srv(plain, answer).value().warnings.size(), 1u);
    answer.txt = {""};
    EXPECT_TRUE(resolve_srv(plain, answer));
}

TEST(srv_uri, settings_are_validated_after_the_lookup)
{
    struct row {
        const char* why;
        std::string_view text;
        srv_answer answer;
        errc expected;
    };
    const auto with = [](srv_answer answer, std::vector<std::string> txt) {
        answer.txt = std::move(txt);
        return answer;
    };
    const row table[] = {
        {"no records", "mongodb+srv://c.test.example.com", {}, errc::invalid_dns_answer},
        {"another domain",
         "mongodb+srv://c.test.example.com",
         {{{"a.test.example.com", 1}, {"a.evil.example.com", 1}}, {}},
         errc::invalid_dns_answer},
        {"no port",
         "mongodb+srv://c.test.example.com",
         {{{"a.test.example.com", 0}}, {}},
         errc::invalid_dns_answer},
        {"no name",
         "mongodb+srv://c.test.example.com",
         {{{"a b.test.example.com", 1}}, {}},
         errc::invalid_dns_answer},
        {"two TXT records", "mongodb+srv://c.test.example.com",
         with(one_host, {"authSource=a", "replicaSet=b"}), errc::invalid_dns_answer},
        {"TXT with another option", "mongodb+srv://c.test.example.com",
         with(one_host, {"socketTimeoutMS=500"}), errc::invalid_dns_answer},
        {"TXT with ssl", "mongodb+srv://c.test.example.com", with(one_host, {"ssl=false"}),
         errc::invalid_dns_answer},
        {"TXT with nonsense", "mongodb+srv://c.test.example.com", with(one_host, {"authSource"}),
         errc::invalid_dns_answer},
        {"TXT with an unknown option", "mongodb+srv://c.test.example.com", with(one_host, {"x=1"}),
         errc::invalid_dns_answer},
        {"TXT with an empty authSource", "mongodb+srv://c.test.example.com",
         with(one_host, {"authSource="}), errc::invalid_option},
        {"balancer with two hosts", "mongodb+srv://c.test.example.com/?loadBalanced=true",
         two_hosts, errc::invalid_option},
        {"balancer by TXT with a set", "mongodb+srv://c.test.example.com/?replicaSet=rs",
         with(one_host, {"loadBalanced=true"}), errc::invalid_option},
        {"balancer by TXT with a limit", "mongodb+srv://c.test.example.com/?srvMaxHosts=1",
         with(one_host, {"loadBalanced=true"}), errc::invalid_option},
        {"a set by TXT with a limit", "mongodb+srv://c.test.example.com/?srvMaxHosts=1",
         with(one_host, {"replicaSet=rs"}), errc::invalid_option},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto resolved = resolve_srv(parse(r.text), r.answer);
        ASSERT_FALSE(resolved);
        EXPECT_EQ(resolved.error().code(), r.expected) << resolved.error().message();
    }
    const auto plain = resolve_srv(parse("mongodb://a"), one_host);
    ASSERT_FALSE(plain);
    EXPECT_EQ(plain.error().code(), errc::invalid_connection_string);
}

TEST(srv_uri, hosts_outside_the_parent_domain_are_refused)
{
    struct row {
        std::string_view name;
        std::string_view found;
        bool trusted;
    };
    const row table[] = {
        {"c.test.example.com", "a.test.example.com", true},
        {"c.test.example.com", "A.TEST.example.com", true},
        {"c.test.example.com", "x.y.test.example.com", true},
        {"c.test.example.com", "test.example.com", false},
        {"c.test.example.com", ".test.example.com", false},
        {"c.test.example.com", "a.example.com", false},
        {"c.test.example.com", "a.not-test.example.com", false},
        {"c.test.example.com", "atest.example.com", false},
        {"c.test.example.com", "a.test.example.org", false},
        {"mongodb.local", "a.mongodb.local", true},
        {"mongodb.local", "mongodb.local", false},
        {"mongodb.local", "a.local", false},
        {"mongodb.local", "evil.mongodb.localx", false},
        {"localhost", "a.localhost", true},
        {"localhost", "localhost", false},
        {"localhost", "alocalhost", false},
        {"c.test.example.com", "", false},
    };
    for (const row& r : table)
        EXPECT_EQ(shares_domain(r.name, r.found), r.trusted) << r.name << ' ' << r.found;
}

}  // namespace
}  // namespace holdfast::core::mongo::srv_test
