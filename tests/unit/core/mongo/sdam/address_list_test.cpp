#include "core/mongo/sdam/address_list.hpp"

#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

namespace holdfast::core::mongo::sdam_test::address_list_test {
namespace {

address_list listed(std::string_view array, const address_list& previous = {})
{
    const bson::array reported = bson::array_from_json(array).value();
    return address_list::parse(reported, previous);
}

TEST(address_list, addresses_are_sorted_without_duplicates)
{
    VERIFIES("SD-074");
    const address_list list = listed(R"(["c:1", "B:1", "a", 7, "b:1", "A:27017"])");
    EXPECT_EQ(list, (address_list{at("a"), at("b:1"), at("c:1")}));
    EXPECT_EQ(list.size(), 3u);
    EXPECT_TRUE(list.contains("b:1") && !list.contains("B:1") && !list.contains("d:1"));
    EXPECT_NE(list, (address_list{at("a"), at("b:1")}));
}

TEST(address_list, empty_list_contains_nothing)
{
    EXPECT_TRUE(address_list{}.empty());
    EXPECT_TRUE(listed("[]").empty());
    EXPECT_EQ(listed("[]"), address_list{});
    EXPECT_FALSE(address_list{}.contains(""));
}

TEST(address_list, every_name_is_normalised_like_an_address)
{
    const char* const names[] = {"a",        "a:1",       "a:65535", "a:65536",   "a:99999",
                                 "a:123456", "a:0",       "a:01",    "a:",        ":1",
                                 "A.b-C:27", "a.b-c9:27", "[::1]:5", "[FE80::1]", "/tmp/x.sock",
                                 "a:1:2",    "a:1x",      "a_b:1",   "",          "a:27018"};
    for (const std::string name : names) {
        const address_list list = listed("[\"" + name + "\"]");
        ASSERT_EQ(list.size(), 1u) << name;
        EXPECT_EQ(*list.begin(), reported_address(name).value()) << name;
    }
    for (const std::size_t length : {254u, 255u, 256u}) {
        const std::string name = std::string(length, 'x') + ":1";
        EXPECT_EQ(*listed("[\"" + name + "\"]").begin(), reported_address(name).value());
    }
}

TEST(address_list, repeated_list_shares_its_storage)
{
    const address_list first = listed(R"(["b:1", "a:1"])");
    EXPECT_TRUE(listed(R"(["b:1", "a:1"])", first).shares_with(first));
    const address_list turned = listed(R"(["a:1", "b:1"])", first);
    EXPECT_FALSE(turned.shares_with(first));
    EXPECT_EQ(turned, first);
    EXPECT_EQ(listed(R"(["c:1"])", first), address_list{at("c:1")});
    EXPECT_TRUE(listed("[]", address_list{at("a")}).empty()) << "made by hand, not reported";
}

TEST(address_list, list_outlives_the_hello_reply)
{
    address_list kept;
    {
        const address_list first = listed(R"(["host-with-a-long-name.example.com:27017", "X"])");
        kept = first;
    }
    EXPECT_EQ(kept, (address_list{at("host-with-a-long-name.example.com"), at("x")}));
}

TEST(parse_hello, unchanged_host_lists_are_shared)
{
    const bson::document reply = json(R"({"ok": 1, "setName": "rs", "secondary": true,
        "hosts": ["a", "b"], "passives": ["p"], "arbiters": ["x"]})");
    const server_description first = parse_hello(at("a"), reply, {}, now);
    const server_description second = parse_hello(at("a"), reply, {}, now, &first);
    EXPECT_TRUE(second.hosts.shares_with(first.hosts));
    EXPECT_TRUE(second.passives.shares_with(first.passives));
    EXPECT_TRUE(second.arbiters.shares_with(first.arbiters));
    EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::address_list_test
