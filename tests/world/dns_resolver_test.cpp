#include "world/dns_party.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>

namespace holdfast::dns_resolver_test {
namespace {

using namespace std::chrono_literals;
using proof::code_of;
using proof::dns_driver;
using proof::text_of;
using runtime::errc;
using manner = proof::dns_stub::manner;
using texts = std::vector<std::string>;

/// Both drivers keep the same promises.
class dns : public ::testing::TestWithParam<dns_driver>, public proof::dns_party {
protected:
    dns() : proof::dns_party{GetParam()} {}
};

INSTANTIATE_TEST_SUITE_P(drivers, dns,
                         ::testing::Values(dns_driver::asynchronous, dns_driver::blocking),
                         proof::name_of_driver);

TEST_P(dns, addresses_and_localhost_send_no_query)
{
    const struct {
        const char* host;
        texts expected;
    } table[] = {
        {"192.0.2.7", {"192.0.2.7"}},
        {"2001:DB8::0:1", {"2001:db8::1"}},
        {"[::1]", {"::1"}},
        {"localhost", {"127.0.0.1", "::1"}},
        {"LocalHost.", {"127.0.0.1", "::1"}},
        {"db1.localhost", {"127.0.0.1", "::1"}},
    };
    for (const auto& row : table) {
        SCOPED_TRACE(row.host);
        const auto got = addresses(row.host);
        ASSERT_TRUE(got) << got.error().explain();
        EXPECT_EQ(*got, row.expected);
    }
    EXPECT_EQ(stub.questions(), 0u);
}

TEST_P(dns, ipv4_and_ipv6_addresses_are_queried)
{
    stub.add_address("db.example.com", "127.0.0.2");
    stub.add_address("db.example.com", "127.0.0.3");
    stub.add_address("db.example.com", "127.0.0.3");
    stub.add_address("db.example.com", "::1");
    const auto got = addresses("DB.example.com");
    ASSERT_TRUE(got) << got.error().explain();
    texts sorted = *got;
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, (texts{"127.0.0.2", "127.0.0.3", "::1"}));
    EXPECT_EQ(stub.questions(), 2u);
}

TEST_P(dns, single_address_family_is_enough)
{
    stub.add_address("four.example.com", "127.0.0.4");
    stub.add_address("six.example.com", "2001:db8::6");
    EXPECT_EQ(addresses("four.example.com").value(), texts{"127.0.0.4"});
    EXPECT_EQ(addresses("six.example.com").value(), texts{"2001:db8::6"});
}

TEST_P(dns, cname_is_followed)
{
    stub.add_alias("db.example.com", "real.example.com");
    stub.add_address("real.example.com", "127.0.0.5");
    EXPECT_EQ(addresses("db.example.com").value(), texts{"127.0.0.5"});
}

TEST_P(dns, unknown_host_is_name_not_found)
{
    stub.add_txt("text.example.com", {"no address here"});
    for (const char* host : {"absent.example.com", "text.example.com"}) {
        SCOPED_TRACE(host);
        const auto got = addresses(host);
        EXPECT_EQ(code_of(got), text_of(errc::name_not_found));
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().message(), "cannot look up " + std::string{host} + ": no such host");
        EXPECT_EQ(got.error().context("phase"), "resolve");
        EXPECT_EQ(got.error().context("cause"), "no such host");
    }
}

TEST_P(dns, invalid_name_sends_no_query)
{
    const std::string names[] = {"", ".", "two words.example.com", std::string{"a\0b.com", 7},
                                 std::string(300, 'a') + ".example.com"};
    for (const std::string& name : names) {
        SCOPED_TRACE(name);
        EXPECT_EQ(code_of(addresses(name)), text_of(errc::name_not_found));
        EXPECT_EQ(code_of(srv(name)), text_of(errc::name_not_found));
        EXPECT_EQ(code_of(txt(name)), text_of(errc::name_not_found));
    }
    const std::string long_label = std::string(64, 'a') + ".example.com";
    EXPECT_EQ(code_of(addresses(long_label)), text_of(errc::name_not_found));
    EXPECT_EQ(stub.questions(), 0u);
}

TEST_P(dns, srv_records_are_read_with_all_fields)
{
    stub.add_srv("_mongodb._tcp.c.example.com", {"A.c.Example.com", 27017, 1, 2, 300});
    stub.add_srv("_mongodb._tcp.c.example.com", {"b.c.example.com", 27018, 3, 4, 86'400});
    const auto got = srv("_mongodb._tcp.c.example.com");
    ASSERT_TRUE(got) << got.error().explain();
    ASSERT_EQ(got->size(), 2u);
    const auto& first = (*got)[0];
    const auto& second = (*got)[1];
    EXPECT_EQ(first.host, "a.c.example.com");
    EXPECT_EQ(first.port, 27017);
    EXPECT_EQ(first.priority, 1);
    EXPECT_EQ(first.weight, 2);
    EXPECT_EQ(first.ttl, 300u);
    EXPECT_EQ(second.host, "b.c.example.com");
    EXPECT_EQ(second.ttl, 86'400u);
}

TEST_P(dns, missing_srv_records_are_name_not_found)
{
    stub.add_address("has.example.com", "127.0.0.1");
    stub.add_srv("none.example.com", {"", 0, 0, 0, 60});  // a dot: there is no such service
    for (const char* name : {"absent.example.com", "has.example.com", "none.example.com"}) {
        SCOPED_TRACE(name);
        const auto got = srv(name);
        EXPECT_EQ(code_of(got), text_of(errc::name_not_found));
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().context("cause"), "there are no SRV records");
    }
}

TEST_P(dns, txt_strings_are_joined_and_optional)
{
    stub.add_txt("split.example.com", {"replicaS", "et=rep", "l0"});
    stub.add_txt("two.example.com", {"a"});
    stub.add_txt("two.example.com", {std::string(255, 'b'), "b"});
    stub.add_address("has.example.com", "127.0.0.1");
    EXPECT_EQ(txt("split.example.com").value(), texts{"replicaSet=repl0"});
    EXPECT_EQ(txt("two.example.com").value(), (texts{"a", std::string(256, 'b')}));
    EXPECT_EQ(txt("has.example.com").value(), texts{});
    EXPECT_EQ(txt("absent.example.com").value(), texts{});
}

TEST_P(dns, servfail_or_refused_is_name_lookup_failed)
{
    for (const manner mode : {manner::fails, manner::refuses}) {
        stub.behave(mode);
        EXPECT_EQ(code_of(addresses("db.example.com")), text_of(errc::name_lookup_failed));
        EXPECT_EQ(code_of(srv("db.example.com")), text_of(errc::name_lookup_failed));
        EXPECT_EQ(code_of(txt("db.example.com")), text_of(errc::name_lookup_failed));
    }
}

TEST_P(dns, unreachable_name_server_is_name_lookup_failed)
{
    settings.dns.servers = {"127.0.0.1:9"};
    settings.dns.timeout = 50ms;
    settings.dns.tries = 1;
    const auto got = addresses("db.example.com");
    EXPECT_EQ(code_of(got), text_of(errc::name_lookup_failed));
}

TEST_P(dns, invalid_server_address_falls_back_to_localhost)
{
    settings.dns.servers = {"not an address"};
    const auto got = addresses("db.example.com");
    EXPECT_EQ(code_of(got), text_of(errc::name_lookup_failed));
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().message().find("127.0.0.1:53"), std::string::npos);
}

TEST_P(dns, second_server_is_queried_if_the_first_is_silent)
{
    proof::dns_stub silent;
    silent.behave(manner::is_silent);
    settings.dns.servers = {silent.address(), stub.address()};
    settings.dns.timeout = 30ms;
    stub.add_txt("db.example.com", {"here"});
    EXPECT_EQ(txt("db.example.com").value(), texts{"here"});
    EXPECT_EQ(silent.questions(), 1u);
}

TEST_P(dns, silent_server_is_queried_the_configured_number_of_times)
{
    settings.dns.timeout = 20ms;
    settings.dns.tries = 3;
    stub.behave(manner::is_silent);
    const auto got = srv("_mongodb._tcp.db.example.com");
    EXPECT_EQ(code_of(got), text_of(errc::name_lookup_failed));
    EXPECT_EQ(stub.questions(), 3u);
}

TEST_P(dns, lost_answer_is_queried_again)
{
    settings.dns.timeout = 30ms;
    stub.add_txt("db.example.com", {"here"});
    stub.mangle([count = 0](proof::dns_stub::message& answer) mutable {
        if (count++ == 0)
            answer.clear();
    });
    EXPECT_EQ(txt("db.example.com").value(), texts{"here"});
    EXPECT_EQ(stub.questions(), 2u);
}

TEST_P(dns, answer_with_a_wrong_id_is_ignored)
{
    settings.dns.timeout = 30ms;
    stub.add_txt("db.example.com", {"here"});
    stub.mangle([count = 0](proof::dns_stub::message& answer) mutable {
        if (count++ == 0) {
            answer[0] ^= 0x55;  // its number
            answer.back() = '!';
        }
    });
    EXPECT_EQ(txt("db.example.com").value(), texts{"here"});
}

TEST_P(dns, deadline_ends_a_lookup)
{
    stub.behave(manner::is_silent);
    const auto before = std::chrono::steady_clock::now();
    const auto got = addresses("db.example.com", 60ms);
    const auto took = std::chrono::steady_clock::now() - before;
    EXPECT_EQ(code_of(got), text_of(errc::connect_timed_out));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().context("phase"), "resolve");
    EXPECT_GE(took, 60ms);
    EXPECT_LT(took, 1500ms);  // the first try alone would take two seconds
}

TEST_P(dns, expired_deadline_sends_no_query)
{
    stub.add_address("db.example.com", "127.0.0.1");
    EXPECT_EQ(code_of(addresses("db.example.com", -1ms)), text_of(errc::connect_timed_out));
    EXPECT_TRUE(addresses("localhost", -1ms));
    EXPECT_TRUE(txt("db.example.com"));  // by whose end an earlier question would have come, too
    EXPECT_EQ(stub.questions(), 1u);
}

TEST_P(dns, truncated_answer_is_repeated_over_tcp)
{
    for (int i = 0; i < 200; ++i)
        stub.add_srv("_mongodb._tcp.big.example.com",
                     {"shard-" + std::to_string(i) + ".big.example.com", 27017, 0, 0, 60});
    stub.behave(manner::truncates);
    const auto got = srv("_mongodb._tcp.big.example.com");
    ASSERT_TRUE(got) << got.error().explain();
    EXPECT_EQ(got->size(), 200u);
    EXPECT_EQ(got->back().host, "shard-199.big.example.com");
    EXPECT_EQ(stub.questions_by_tcp(), 1u);
}

TEST_P(dns, answers_are_not_cached)
{
    stub.add_srv("_mongodb._tcp.c.example.com", {"a.c.example.com", 1, 0, 0, 60});
    EXPECT_EQ(srv("_mongodb._tcp.c.example.com").value().front().host, "a.c.example.com");
    stub.remove("_mongodb._tcp.c.example.com");
    stub.add_srv("_mongodb._tcp.c.example.com", {"b.c.example.com", 2, 0, 0, 60});
    EXPECT_EQ(srv("_mongodb._tcp.c.example.com").value().front().host, "b.c.example.com");
    stub.remove("_mongodb._tcp.c.example.com");
    EXPECT_EQ(code_of(srv("_mongodb._tcp.c.example.com")), text_of(errc::name_not_found));
}

TEST_P(dns, hosts_file_takes_precedence)
{
    std::ifstream file{"/etc/hosts"};
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream text{line.substr(0, line.find('#'))};
        std::string address;
        std::string name;
        text >> address >> name;
        if (name.empty() || name.find("localhost") != name.npos || name.starts_with("ip6-"))
            continue;
        const auto got = addresses(name);
        ASSERT_TRUE(got) << got.error().explain();
        EXPECT_NE(std::ranges::find(*got, address), got->end()) << name;
        EXPECT_EQ(stub.questions(), 0u);
        return;
    }
    GTEST_SKIP() << "the hosts file of this machine names only localhost";
}

TEST_P(dns, lookup_starts_no_thread_and_leaves_nothing_open)
{
    stub.add_address("db.example.com", "127.0.0.1");
    ASSERT_TRUE(addresses("db.example.com"));
    const auto files = proof::open_files();
    const auto during = std::make_shared<std::atomic<std::ptrdiff_t>>(0);
    stub.mangle([during](proof::dns_stub::message&) { *during = proof::threads(); });
    const auto before = proof::threads();
    ASSERT_TRUE(addresses("db.example.com"));
    EXPECT_EQ(*during, before);
    EXPECT_EQ(proof::threads(), before);
    EXPECT_EQ(proof::open_files(), files);
}

}  // namespace
}  // namespace holdfast::dns_resolver_test
