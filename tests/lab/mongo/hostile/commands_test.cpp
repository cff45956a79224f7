#include "arena.hpp"
#include "generator.hpp"
#include "lab/mongo/set/set_in_sim.hpp"
#include "live_bytes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace holdfast::lab::commands_test {
namespace {

using hostile::arena;
using hostile::generator;
using hostile::live_bytes;
using hostile::talker;

constexpr std::size_t allowed_growth = 256U << 20;
constexpr std::size_t allowed_rest = 16U << 20;  // tables that are made once
constexpr std::int32_t more_to_come = 1 << 1;
constexpr std::int32_t exhaust_allowed = 1 << 16;

std::uint64_t wish(const char* name, std::uint64_t otherwise)
{
    const char* const said = std::getenv(name);
    return said ? std::strtoull(said, nullptr, 10) : otherwise;
}

std::string describe(std::uint64_t seed, std::uint64_t number, const std::string& body)
{
    std::string text = "HOLDFAST_HOSTILE_SEED=" + std::to_string(seed) + ", command " +
                       std::to_string(number) + ": ";
    const auto* const data = reinterpret_cast<const std::uint8_t*>(body.data());
    const auto read = bson::validate({data, body.size()});
    const auto json = read ? bson::to_json(*read) : result<std::string>{"malformed"};
    return text + json.value_or("?").substr(0, 2000);
}

/// One command after the other, each of them checked.
class attack {
public:
    explicit attack(std::uint64_t seed) : seed_{seed}, next_{seed} {}

    void cover(const mongo::node& on)
    {
        for (const mongo::command* const one : on.commands())
            next_.cover(one->name);
    }

    void strike(talker& by)
    {
        const std::string body = next_.command(cursor_);
        const std::uint64_t number = ++sent_;
        std::int32_t flags = 0;
        if (next_.once_in(40))
            flags |= more_to_come;
        if (next_.once_in(20))
            flags |= exhaust_allowed;
        const auto began = std::chrono::steady_clock::now();
        const auto came = by.send(talker::message(body, flags));
        const auto took = std::chrono::steady_clock::now() - began;
        if (took > slowest_) {
            slowest_ = took;
            slowest_command_ = describe(seed_, number, body);
        }
        const bool quiet = (flags & more_to_come) != 0;
        EXPECT_LT(took, std::chrono::seconds{30}) << describe(seed_, number, body);
        EXPECT_TRUE(quiet ? came.replies == 0 : came.reply || came.closed || came.waits)
            << came.replies << " replies, " << describe(seed_, number, body);
        if (!came.reply)
            return;
        EXPECT_TRUE(hostile::is_answer(*came.reply))
            << bson::to_json(*came.reply).value_or("?") << "\n"
            << describe(seed_, number, body);
        answered_ += came.reply->get<double>("ok").value_or(0) == 1 ? 1 : 0;
        const bson::element id = came.reply->find_path("cursor.id");
        if (id.type() == bson::type::int64 && id.as_int64() != 0)
            cursor_ = id.as_int64();
    }

    std::uint64_t sent() const noexcept { return sent_; }
    std::uint64_t carried_out() const noexcept { return answered_; }
    void notify() const
    {
        if (std::getenv("HOLDFAST_HOSTILE_COMMANDS") != nullptr)
            std::printf("%llu sent, %llu carried out, slowest %.3f s: %.600s\n",
                        static_cast<unsigned long long>(sent_),
                        static_cast<unsigned long long>(answered_),
                        std::chrono::duration<double>{slowest_}.count(), slowest_command_.c_str());
    }

private:
    std::uint64_t seed_;
    generator next_;
    std::uint64_t sent_ = 0;
    std::uint64_t answered_ = 0;
    std::int64_t cursor_ = 1;
    std::chrono::steady_clock::duration slowest_{};
    std::string slowest_command_;
};

TEST(hostile_commands, get_an_answer_or_lose_the_connection)
{
    const std::uint64_t wanted = wish("HOLDFAST_HOSTILE_COMMANDS", 20'000);
    const std::uint64_t seed = wish("HOLDFAST_HOSTILE_SEED", 1);
    constexpr std::uint64_t round = 500;
    attack on{seed};
    std::size_t before = 0;
    for (std::uint64_t rounds = 0; on.sent() < wanted && !testing::Test::HasFailure(); ++rounds) {
        if (rounds == 4)
            before = live_bytes();
        hostile::arena_options options;
        options.in_set = rounds % 2 == 1;
        options.auth = rounds % 7 == 6;
        options.version = rounds % 5 == 4 ? "4.2" : "8.2";
        arena in{options};
        on.cover(in.on);
        const std::size_t at_first = live_bytes();
        for (std::uint64_t i = 0; i < round && !testing::Test::HasFailure(); ++i) {
            on.strike(in.client);
            if (i % 25 != 0)
                continue;
            in.calm();
            EXPECT_TRUE(in.answers_ping()) << "after command " << on.sent() << " of seed " << seed;
            EXPECT_LT(live_bytes(), at_first + allowed_growth);
        }
    }
    on.notify();
    EXPECT_LT(live_bytes(), before + allowed_rest) << "something is never given back";
    // Else they are stopped at the door, and nothing is tested.
    EXPECT_GT(on.carried_out(), wanted / 8);
}

TEST(hostile_commands, malformed_commands_leave_the_set_working)
{
    const std::uint64_t wanted = wish("HOLDFAST_HOSTILE_COMMANDS", 20'000) / 10;
    const std::uint64_t seed = wish("HOLDFAST_HOSTILE_SEED", 1);
    constexpr std::uint64_t round = 200;
    attack on{seed + 1'000'000};
    for (std::uint64_t rounds = 0; on.sent() < wanted && !testing::Test::HasFailure(); ++rounds) {
        set_in_sim set{3, seed + rounds};
        const std::size_t first = set.settle();
        mongo::node& primary = set.set->process(first)->server();
        mongo::node& other = set.set->process((first + 1) % 3)->server();
        mongo::node_service at_primary{primary};
        mongo::node_service at_other{other};
        const auto pass = [&](time_point until) {
            if (until > set.net.now())
                set.pass(until - set.net.now());
        };
        talker to_primary{primary.world, at_primary, pass};
        talker to_other{other.world, at_other, pass};
        on.cover(primary);
        for (const std::string_view one : hostile::contents)
            to_primary.run(one);
        for (std::uint64_t i = 0; i < round && !testing::Test::HasFailure(); ++i) {
            to_primary.internal = to_other.internal = i % 4 == 0;
            on.strike(i % 5 == 4 ? to_other : to_primary);
            if (i % 20 != 0)
                continue;
            set.pass(seconds{1});
            to_primary.hang_up();
            to_other.hang_up();
            primary.faults.clear();
            primary.requests = {};
            EXPECT_TRUE(is_ok(to_primary.run(R"({"ping":1,"$db":"admin"})")))
                << "after command " << on.sent();
        }
    }
    on.notify();
}

}  // namespace
}  // namespace holdfast::lab::commands_test
