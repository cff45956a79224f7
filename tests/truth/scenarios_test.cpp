#include "tools/holdfast/drill/scenarios.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::drill::scenarios_test {
namespace {

using namespace std::chrono_literals;

/// Records what is done to its members. The second one leads.
class recorded_target final : public target {
public:
    std::vector<std::string> calls;
    bool refuses_faults = false;

    bool supports(fault) const noexcept override { return true; }
    result<std::size_t> await_leader() override { return std::size_t{1}; }
    result<void> crash(std::size_t member) override { return begin("crash", member); }
    result<void> restart(std::size_t member) override { return record("restart", member); }
    result<void> freeze(std::size_t member) override { return begin("freeze", member); }
    result<void> thaw(std::size_t member) override { return record("thaw", member); }

private:
    result<void> begin(const char* what, std::size_t member)
    {
        if (refuses_faults)
            return error{make_error_code(boost::system::errc::operation_not_supported), what};
        return record(what, member);
    }
    result<void> record(const char* what, std::size_t member)
    {
        calls.push_back(what + (' ' + std::to_string(member)));
        return {};
    }
};

/// The number of faults that the scenario has reported.
std::uint64_t run(std::string_view name, recorded_target& on)
{
    std::atomic<bool> interrupted = false;
    const scenario* const found = find_scenario(name);
    if (found == nullptr)
        return 99;
    return found->run({.servers = &on, .interrupted = &interrupted, .length = 200ms}).value();
}

TEST(scenarios, crashed_and_frozen_primary_comes_back)
{
    recorded_target servers;
    EXPECT_EQ(run("crash", servers), 1U);
    EXPECT_EQ(servers.calls, (std::vector<std::string>{"crash 1", "restart 1"}));
    servers.calls.clear();
    EXPECT_EQ(run("freeze", servers), 1U);
    EXPECT_EQ(servers.calls, (std::vector<std::string>{"freeze 1", "thaw 1"}));
}

TEST(scenarios, refused_fault_is_not_counted_and_not_ended)
{
    recorded_target servers;
    servers.refuses_faults = true;
    EXPECT_EQ(run("crash", servers) + run("freeze", servers), 0U);
    EXPECT_TRUE(servers.calls.empty());
}

}  // namespace
}  // namespace holdfast::drill::scenarios_test
