#include "net/address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::net_address_test {
namespace {

std::vector<std::string> turns(const std::vector<std::string>& texts)
{
    std::vector<std::string> order;
    for (const auto& one : net::take_turns(net::parse_addresses(texts)))
        order.push_back(one.to_string());
    return order;
}

using list = std::vector<std::string>;

TEST(net_address, families_alternate_starting_with_the_first)
{
    EXPECT_EQ(turns({"::1", "::2", "::3", "1.1.1.1", "2.2.2.2"}),
              (list{"::1", "1.1.1.1", "::2", "2.2.2.2", "::3"}));
    EXPECT_EQ(turns({"1.1.1.1", "::1", "::2", "::3"}), (list{"1.1.1.1", "::1", "::2", "::3"}));
    EXPECT_EQ(turns({"1.1.1.1", "2.2.2.2", "3.3.3.3", "::1"}),
              (list{"1.1.1.1", "::1", "2.2.2.2", "3.3.3.3"}));
}

TEST(net_address, single_family_keeps_its_order)
{
    EXPECT_EQ(turns({}), list{});
    EXPECT_EQ(turns({"2.2.2.2", "1.1.1.1"}), (list{"2.2.2.2", "1.1.1.1"}));
    EXPECT_EQ(turns({"::2", "::1"}), (list{"::2", "::1"}));
}

TEST(net_address, invalid_addresses_are_skipped)
{
    EXPECT_EQ(turns({"db1", "1.1.1.1", "", "1.1.1", "::1"}), (list{"1.1.1.1", "::1"}));
}

TEST(net_address, describe_gives_address_and_port)
{
    const auto v4 = net::tcp_endpoint(boost::asio::ip::make_address("10.0.0.1"), 27017);
    EXPECT_EQ(net::describe(v4), "10.0.0.1:27017");
    EXPECT_EQ(net::port_of(v4), 27017);
    const auto v6 = net::tcp_endpoint(boost::asio::ip::make_address("fe80::1"), 1);
    EXPECT_EQ(net::describe(v6), "[fe80::1]:1");
    EXPECT_EQ(net::port_of(v6), 1);
}

TEST(net_address, unix_path_may_be_107_bytes_long)
{
    const auto longest = net::unix_endpoint('/' + std::string(106, 'x'));
    ASSERT_TRUE(longest.has_value());
    EXPECT_EQ(net::describe(*longest), "");
    EXPECT_EQ(net::port_of(*longest), 0);
    EXPECT_FALSE(net::unix_endpoint('/' + std::string(107, 'x')).has_value());
}

TEST(net_address, cause_text_starts_in_lower_case)
{
    namespace errc = boost::system::errc;
    EXPECT_EQ(net::cause_text(make_error_code(errc::connection_refused)), "connection refused");
    EXPECT_EQ(net::cause_text(make_error_code(errc::io_error)).substr(0, 3), "inp");
    EXPECT_EQ(net::cause_text({}), "success");
}

}  // namespace
}  // namespace holdfast::net_address_test
