#include "shell/mongo/topology/sdam_events.hpp"

#include "core/mongo/sdam/server_description.hpp"

#include <gtest/gtest.h>

namespace holdfast::shell::mongo::sdam_events_test {
namespace {

TEST(sdam_events, descriptions_of_one_server_share_their_lists)
{
    core::mongo::server_description s;
    s.address = endpoint{"a:27017"};
    s.hosts = {endpoint{"b:27017"}, endpoint{"a:27017"}};
    const auto first = described(s);
    const auto second = described(s);
    ASSERT_EQ(first.hosts.size(), 2U);
    EXPECT_EQ(first.hosts[0].value(), "a:27017");
    EXPECT_EQ(first.hosts[1].value(), "b:27017");
    EXPECT_EQ(&first.hosts[0], &second.hosts[0]) << "a copy for each member and event is quadratic";
    EXPECT_EQ(first.hosts, second.hosts);
    EXPECT_TRUE(first.passives.empty());
    EXPECT_FALSE(first.hosts == first.passives);
}

}  // namespace
}  // namespace holdfast::shell::mongo::sdam_events_test
