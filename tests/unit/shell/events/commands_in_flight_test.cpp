#include "shell/mongo/events/commands_in_flight.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo::commands_in_flight_test {
namespace {

using namespace std::chrono_literals;

class overdue_commands : public ::testing::Test {
protected:
    std::vector<std::string> taken(duration after)
    {
        std::vector<std::string> found;
        for (const events::command_overdue& one : list.take_overdue(start + after))
            found.push_back(one.command_name);
        return found;
    }

    using names = std::vector<std::string>;
    const endpoint server{"a:27017"};
    const events::command_facts find{
        .command_name = "find", .database_name = "d", .server = server};
    const events::command_facts insert{
        .command_name = "insert", .database_name = "d", .server = server};
    const time_point start{std::chrono::hours{1}};
    commands_in_flight list;
};

TEST_F(overdue_commands, each_is_taken_once_after_30_seconds)
{
    commands_in_flight::entry first;
    commands_in_flight::entry second;
    list.add(first, find, connection_id{1}, start);
    list.add(second, insert, connection_id{2}, start + 5s);
    EXPECT_EQ(taken(29s), names{});
    EXPECT_EQ(taken(30s), names{"find"});
    EXPECT_EQ(taken(34s), names{});
    EXPECT_EQ(taken(36s), names{"insert"});
    EXPECT_EQ(taken(100s), names{});
}

TEST_F(overdue_commands, answered_commands_are_not_taken)
{
    commands_in_flight::entry first;
    std::optional<commands_in_flight::entry> second{std::in_place};
    commands_in_flight::entry third;
    list.add(first, find, connection_id{1}, start);
    list.add(*second, insert, connection_id{2}, start);
    list.add(third, find, connection_id{3}, start);
    second.reset();
    first.leave();
    first.leave();
    EXPECT_EQ(taken(30s), names{"find"});
    third.leave();
    list.add(first, insert, connection_id{1}, start + 1s);
    EXPECT_EQ(taken(31s), names{"insert"});
}

}  // namespace
}  // namespace holdfast::shell::mongo::commands_in_flight_test
