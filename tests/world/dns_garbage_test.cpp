#include "net/dns/answer.hpp"
#include "net/dns/names.hpp"
#include "support/dns_records.hpp"
#include "world/dns_party.hpp"

#include <algorithm>
#include <atomic>
#include <random>

/// What comes from a name server is not to be trusted.
namespace holdfast::dns_garbage_test {
namespace {

using namespace std::chrono_literals;
using message = proof::dns_message;
using proof::code_of;
using proof::dns_driver;
using proof::text_of;
using texts = std::vector<std::string>;

/// A question of a type, as c-ares would send it, and what the records say to it.
message answer_to(const proof::dns_records& records, const std::string& name, proof::dns_type type)
{
    message asked = {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t dot = std::min(name.find('.', at), name.size());
        asked.push_back(static_cast<std::uint8_t>(dot - at));
        asked.insert(asked.end(), name.begin() + static_cast<std::ptrdiff_t>(at),
                     name.begin() + static_cast<std::ptrdiff_t>(dot));
        at = dot + 1;
    }
    for (const int byte : {0, 0, static_cast<int>(type), 0, 1})
        asked.push_back(static_cast<std::uint8_t>(byte));
    const auto question = proof::read_question(asked);
    return records.answer(question.value(), asked);
}

message srv_answer()
{
    proof::dns_records records;
    records.add_srv("s.example.com", {"a.example.com", 27017, 5, 6, 300});
    records.add_srv("s.example.com", {"b.example.com", 27018, 7, 8, 3'000'000'000});
    return answer_to(records, "s.example.com", proof::dns_type::srv);
}

message txt_answer()
{
    proof::dns_records records;
    records.add_txt("s.example.com", {"one", "", "two"});
    return answer_to(records, "s.example.com", proof::dns_type::txt);
}

TEST(dns_answer, srv_records_are_parsed_with_ttl)
{
    const auto got = net::read_srv(srv_answer());
    ASSERT_TRUE(got);
    ASSERT_EQ(got->size(), 2u);
    EXPECT_EQ((*got)[0].host, "a.example.com");
    EXPECT_EQ((*got)[0].ttl, 300u);
    EXPECT_EQ((*got)[1].port, 27018);
    EXPECT_EQ((*got)[1].ttl, 0u) << "RFC 2181: so large a number means none";
}

TEST(dns_answer, records_of_another_type_are_skipped)
{
    EXPECT_EQ(net::read_txt(srv_answer()), texts{});
    const auto got = net::read_srv(txt_answer());
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->empty());
    EXPECT_EQ(net::read_txt(txt_answer()), texts{"onetwo"});
}

TEST(dns_answer, records_of_another_class_are_skipped)
{
    message answer = txt_answer();
    const std::size_t class_at = answer.size() - 9 - 8 + 1;  // before ttl, length and strings
    ASSERT_EQ(answer[class_at], 1);
    answer[class_at] = 3;
    EXPECT_EQ(net::read_txt(answer), texts{});
}

TEST(dns_answer, answer_truncated_at_any_byte_is_refused)
{
    const message srv = srv_answer();
    const message txt = txt_answer();
    for (std::size_t length = 0; length < srv.size(); ++length)
        EXPECT_FALSE(net::read_srv(std::span{srv}.first(length))) << length;
    for (std::size_t length = 0; length < txt.size(); ++length)
        EXPECT_FALSE(net::read_txt(std::span{txt}.first(length))) << length;
}

TEST(dns_answer, record_with_a_wrong_length_is_refused)
{
    message longer = txt_answer();
    longer[longer.size() - 4] = 9;  // the length of "two"
    EXPECT_FALSE(net::read_txt(longer));
    longer.insert(longer.end(), 6, 'x');
    EXPECT_FALSE(net::read_txt(longer)) << "the string is there, but not the record's";
    message shorter = srv_answer();
    const std::size_t length_at = shorter.size() - 15 - 6 - 1;  // of the last record
    ASSERT_EQ(shorter[length_at], 21);
    --shorter[length_at];
    EXPECT_FALSE(net::read_srv(shorter)) << "the host is longer than the record";
}

TEST(dns_answer, compression_pointer_loop_is_refused)
{
    message circle = srv_answer();
    const std::size_t name_at = circle.size() - 15;  // of the last target
    ASSERT_EQ(circle[name_at], 1) << "one letter";
    circle[name_at] = static_cast<std::uint8_t>(0xc0 | name_at >> 8);
    circle[name_at + 1] = static_cast<std::uint8_t>(name_at);
    EXPECT_FALSE(net::read_srv(circle));
}

TEST(dns_answer, srv_target_that_is_no_host_name_is_refused)
{
    for (const char* host :
         {"a b.example.com", "a/../../tmp/x.sock", "a:1.example.com", "a\x01.com"}) {
        proof::dns_records records;
        records.add_srv("s.example.com", {host, 1, 0, 0, 60});
        EXPECT_FALSE(net::read_srv(answer_to(records, "s.example.com", proof::dns_type::srv)))
            << host;
    }
    for (const char* host : {"", ".", "a..b", ".a", "a.", "a b", "a\\.b", "\xc3\xa4.de"})
        EXPECT_FALSE(net::is_host_name(host)) << host;
    for (const char* host : {"a", "A-1._x.example.com", "0.0"})
        EXPECT_TRUE(net::is_host_name(host)) << host;
    EXPECT_TRUE(net::is_host_name(std::string(63, 'a')));
    EXPECT_FALSE(net::is_host_name(std::string(64, 'a')));
}

TEST(dns_answer, mutated_answers_do_not_crash)
{
    std::mt19937 draw{1};
    for (int round = 0; round < 20'000; ++round) {
        message changed = round % 2 == 0 ? srv_answer() : txt_answer();
        for (unsigned times = draw() % 4 + 1; times != 0; --times)
            changed[draw() % changed.size()] = static_cast<std::uint8_t>(draw());
        if (const auto services = net::read_srv(changed)) {
            for (const auto& service : *services)
                EXPECT_TRUE(net::is_host_name(service.host));
        }
        [[maybe_unused]] const auto read = net::read_txt(changed);
    }
}

class dns_garbage : public ::testing::TestWithParam<dns_driver>, public proof::dns_party {
protected:
    dns_garbage() : proof::dns_party{GetParam()}
    {
        settings.dns.timeout = 3ms;
        settings.dns.tries = 2;
        stub.add_address("db.example.com", "127.0.0.1");
        stub.add_address("db.example.com", "::1");
        stub.add_srv("db.example.com", {"a.example.com", 27017, 5, 6, 300});
        stub.add_txt("db.example.com", {"one", "two"});
    }
};

INSTANTIATE_TEST_SUITE_P(drivers, dns_garbage,
                         ::testing::Values(dns_driver::asynchronous, dns_driver::blocking),
                         proof::name_of_driver);

TEST_P(dns_garbage, mutated_packets_do_not_crash)
{
    stub.mangle([draw = std::mt19937{7}](message& answer) mutable {
        if (draw() % 8 == 0)
            answer.resize(draw() % answer.size());
        for (unsigned times = draw() % 4; times != 0 && answer.size() > 4; --times)
            answer[2 + draw() % (answer.size() - 2)] = static_cast<std::uint8_t>(draw());
    });
    int answered = 0;
    for (int round = 0; round < 100; ++round) {
        if (const auto got = addresses("db.example.com", 2s)) {
            ++answered;
            for (const std::string& address : *got)
                EXPECT_TRUE(net::known_addresses(address)) << address;
        }
        if (const auto got = srv("db.example.com", 2s)) {
            for (const auto& service : *got)
                EXPECT_TRUE(net::is_host_name(service.host)) << service.host;
        }
        [[maybe_unused]] const auto got = txt("db.example.com", 2s);
    }
    EXPECT_GT(answered, 0);
    stub.mangle(nullptr);
    EXPECT_EQ(txt("db.example.com").value(), texts{"onetwo"});
}

TEST_P(dns_garbage, random_bytes_count_as_no_answer)
{
    stub.mangle([draw = std::mt19937{8}](message& answer) mutable {
        for (std::uint8_t& byte : answer)
            byte = static_cast<std::uint8_t>(draw());
    });
    for (int round = 0; round < 10; ++round)
        EXPECT_EQ(code_of(srv("db.example.com")), text_of(runtime::errc::name_lookup_failed));
}

TEST_P(dns_garbage, truncated_record_fails_the_whole_lookup)
{
    stub.mangle([](message& answer) { answer.pop_back(); });
    EXPECT_EQ(code_of(srv("db.example.com")), text_of(runtime::errc::name_lookup_failed));
    EXPECT_EQ(code_of(txt("db.example.com")), text_of(runtime::errc::name_lookup_failed));
}

}  // namespace
}  // namespace holdfast::dns_garbage_test
