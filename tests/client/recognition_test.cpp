#include "client/traffic.hpp"

#include <map>
#include <tuple>

namespace holdfast::proof::recognition_test {
namespace {

using namespace std::chrono_literals;

/// A server that remembers writes by session and number, as servers do, and counts what it has
/// applied.
class remembering_server {
public:
    /// Breaks the connection so many times after it has applied, or recognised, a write.
    explicit remembering_server(std::size_t breaks) : breaks_{breaks} {}

    scripted_reply insert(const scripted_command& command)
    {
        const std::string session = key_of(command);
        const std::int64_t number = command.body["txnNumber"].as_int64();
        std::int64_t& highest = highest_[session];
        if (number < highest)
            return {error_reply(225)};  // TransactionTooOld
        highest = number;
        const auto [reply, is_new] = replies_.try_emplace({session, number});
        if (is_new) {
            ++applied;
            reply->second = bson::doc("n", 1, "applied", applied, "ok", 1.0);
        }
        if (breaks_ == 0)
            return {reply->second};
        --breaks_;
        return hang_up();
    }

    void pretend_to_know_more(std::int64_t by)
    {
        for (auto& [session, number] : highest_)
            number += by;
    }

    int applied = 0;

private:
    static std::string key_of(const scripted_command& command)
    {
        const auto bytes = command.body["lsid"].as_document().bytes();
        return {bytes.begin(), bytes.end()};
    }

    std::size_t breaks_;
    std::map<std::string, std::int64_t> highest_;
    std::map<std::pair<std::string, std::int64_t>, bson::document> replies_;
};

TEST(write_deduplication, retried_write_is_applied_once)
{
    VERIFIES("RW-068");
    scene s;
    remembering_server memory{1};
    s.server("a").on_command("insert", [&](const scripted_command& c) { return memory.insert(c); });
    s.connect();
    const operation& op = s.write();
    ASSERT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(s.server("a").count("insert"), 2U);
    EXPECT_EQ(memory.applied, 1);
    EXPECT_TRUE(s.write().good());
    EXPECT_EQ(memory.applied, 2) << "another operation is another write";
    expect_clean(s);
}

TEST(write_deduplication, write_retried_five_times_has_one_result)
{
    VERIFIES("RW-067");
    scene s;
    remembering_server memory{5};
    s.server("a").on_command("insert", [&](const scripted_command& c) { return memory.insert(c); });
    s.connect("&heartbeatFrequencyMS=500");
    const mongo::command_options patient{.kind = mongo::command_kind::write, .timeout = 60s};
    const operation& op = s.run(insert_of(1), patient);
    ASSERT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(s.server("a").count("insert"), 6U);
    EXPECT_EQ(memory.applied, 1);
    EXPECT_EQ((*op.outcome)->get<int>("applied").value(), 1);
    expect_clean(s);
}

TEST(write_deduplication, no_such_session_206_is_reported_and_not_retried)
{
    VERIFIES("RD-026");
    scene s;
    s.server("a").on_command("insert", in_turn({{.body = error_reply(206)}, good_write()}));
    s.connect();
    EXPECT_EQ(s.write(1).code(), 206);
    EXPECT_EQ(s.server("a").count("insert"), 1U);
    EXPECT_TRUE(s.write(2).good());
    const auto seen = s.server("a").commands("insert");
    EXPECT_EQ(seen[0].body["lsid"].as_document(), seen[1].body["lsid"].as_document());
    EXPECT_EQ(seen[1].body["txnNumber"].as_int64(), 2) << "a number is never used twice";
    expect_clean(s);
}

TEST(write_deduplication, transaction_too_old_225_is_reported_and_not_retried)
{
    VERIFIES("RD-027");
    scene s;
    remembering_server memory{0};
    s.server("a").on_command("insert", [&](const scripted_command& c) { return memory.insert(c); });
    s.connect();
    EXPECT_TRUE(s.write(1).good());
    memory.pretend_to_know_more(5);
    EXPECT_EQ(s.write(2).code(), 225);
    EXPECT_EQ(s.server("a").count("insert"), 2U);
    EXPECT_EQ(memory.applied, 1);
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::recognition_test
