#include "core/uri/host.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::uri::host_test {
namespace {

TEST(split_host, host_and_port_are_taken_apart)
{
    struct row {
        std::string_view text;
        std::string_view host;
        std::optional<std::uint16_t> port;
    };
    const row table[] = {
        {"a", "a", {}},
        {"A.Example:1", "a.example", 1},
        {"10.0.0.1:65535", "10.0.0.1", 65535},
        {"[::1]", "::1", {}},
        {"[FE80::1%Eth0]:7", "fe80::1%Eth0", 7},
    };
    for (const row& r : table) {
        const auto parts = split_host(r.text);
        EXPECT_EQ(parts.problem, "") << r.text;
        EXPECT_EQ(parts.host, r.host);
        EXPECT_EQ(parts.port, r.port);
    }
}

TEST(split_host, problem_does_not_quote_the_text)
{
    for (const std::string_view text : {"", "::1", "a:b:1", "[::1", "[::1]x", "[a]", "xyzzy:0",
                                        "xyzzy:", "xyz zy", "xyzzy/", "[::1]:99999"}) {
        const auto parts = split_host(text);
        EXPECT_FALSE(parts.problem.empty()) << text;
        EXPECT_EQ(parts.problem.find("xyzzy"), parts.problem.npos);
    }
}

TEST(host, literals_are_distinguished_from_names)
{
    EXPECT_TRUE(looks_like_ipv4("192.0.2.1"));
    for (const std::string_view name : {"192.0.2", "192.0.2.a", "a.b.c.d", ""})
        EXPECT_FALSE(looks_like_ipv4(name)) << name;
    EXPECT_TRUE(looks_like_ipv6("fd00::1"));
    EXPECT_FALSE(looks_like_ipv6("a:1"));
}

TEST(join_host, only_an_ipv6_address_gets_brackets)
{
    EXPECT_EQ(join_host("a.example", 1), "a.example:1");
    EXPECT_EQ(join_host("::1", 65535), "[::1]:65535");
}

}  // namespace
}  // namespace holdfast::core::uri::host_test
