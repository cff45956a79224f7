#include "core/mongo/settings/address.hpp"

#include "core/mongo/error/errc.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::address_test {
namespace {

TEST(address, host_and_port_are_normalised)
{
    VERIFIES("SD-028");
    struct row {
        std::string_view text;
        std::string_view endpoint;
        std::string_view host;
        std::uint16_t port;
    };
    const row table[] = {
        {"localhost", "localhost:27017", "localhost", 27017},
        {"A.Example.COM:27017", "a.example.com:27017", "a.example.com", 27017},
        {"a:1", "a:1", "a", 1},
        {"a:65535", "a:65535", "a", 65535},
        {"127.0.0.1:27018", "127.0.0.1:27018", "127.0.0.1", 27018},
        {"[::1]", "[::1]:27017", "::1", 27017},
        {"[FE80::A]:27019", "[fe80::a]:27019", "fe80::a", 27019},
        {"[FE80::1%Eth0]", "[fe80::1%Eth0]:27017", "fe80::1%Eth0", 27017},
        {"[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]:27017", "::ffff:1.2.3.4", 27017},
        {"b\xC3\xBC"
         "cher.example.com",
         "b\xC3\xBC"
         "cher.example.com:27017",
         "b\xC3\xBC"
         "cher.example.com",
         27017},
        {"/tmp/MongoDB-27017.sock", "/tmp/MongoDB-27017.sock", "/tmp/MongoDB-27017.sock", 0},
        {"rel/a b.sock", "rel/a b.sock", "rel/a b.sock", 0},
        {"like-a.sock", "like-a.sock:27017", "like-a.sock", 27017},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const auto parsed = parse_address(r.text);
        ASSERT_TRUE(parsed) << parsed.error().message();
        EXPECT_EQ(parsed->value(), r.endpoint);
        EXPECT_EQ(parts_of(*parsed).host, r.host);
        EXPECT_EQ(parts_of(*parsed).port, r.port);
        EXPECT_EQ(reported_address(r.text), *parsed);
    }
}

TEST(address, parse_error_names_what_is_wrong)
{
    struct row {
        std::string text;
        std::string_view why;
    };
    const row table[] = {
        {"", "the host name is empty"},
        {":27017", "the host name is empty"},
        {"[]", "the host name is empty"},
        {"a::1", "more than one ':'; an IPv6 address is written in brackets"},
        {"::1", "more than one ':'; an IPv6 address is written in brackets"},
        {"[::1", "an IPv6 address starts with '[' but has no ']'"},
        {"[::1]x", "only ':' and a port may follow ']'"},
        {"[localhost]", "what stands in brackets is no IPv6 address"},
        {"[1:2]", "what stands in brackets is no IPv6 address"},
        {"[::1%a b]", "a host name has no spaces, quotes, brackets, @, ?, # or \\"},
        {"a:", "a port is a number from 1 to 65535"},
        {"a:0", "a port is a number from 1 to 65535"},
        {"a:65536", "a port is a number from 1 to 65535"},
        {"a:-1", "a port is a number from 1 to 65535"},
        {"a:1x", "a port is a number from 1 to 65535"},
        {"[::1]:", "a port is a number from 1 to 65535"},
        {"/tmp/x", "a Unix socket is a path that ends with .sock, percent-encoded"},
        {"a b", "a host name has no spaces, quotes, brackets, @, ?, # or \\"},
        {"me@a", "a host name has no spaces, quotes, brackets, @, ?, # or \\"},
        {"a]", "a host name has no spaces, quotes, brackets, @, ?, # or \\"},
        {std::string{"/a\0.sock", 8}, "the path of a Unix socket holds a zero byte"},
        {std::string(256, 'a'), "a host name has at most 255 characters"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const auto parsed = parse_address(r.text);
        ASSERT_FALSE(parsed);
        EXPECT_EQ(parsed.error().code(), errc::invalid_address);
        EXPECT_EQ(parsed.error().context("why"), r.why);
        EXPECT_TRUE(parsed.error().message().ends_with(r.why)) << parsed.error().message();
    }
    EXPECT_TRUE(parse_address(std::string(255, 'a')));
}

TEST(address, reported_address_is_lower_cased_only)
{
    EXPECT_EQ(reported_address("A::B").value(), "a::b");
    EXPECT_EQ(parts_of(endpoint{"no-port"}).port, default_port);
}

}  // namespace
}  // namespace holdfast::core::mongo::address_test
