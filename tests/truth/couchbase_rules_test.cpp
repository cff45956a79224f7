// What is broken must be reported by the rules of Couchbase's storms, and nothing else.
#include "core/couchbase/route/vbucket.hpp"
#include "truth/couchbase/rules.hpp"
#include "truth/couchbase/service.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::truth {
namespace {

using namespace std::chrono_literals;

const time_point noon = time_point{} + 12h;
constexpr std::size_t eight = 8;

drill::operation lasting(duration length, bool durable = false)
{
    drill::operation made;
    made.what = drill::action::upsert;
    made.record = "loose record 1.1";
    made.durable = durable;
    made.end = drill::fate::acknowledged;
    made.began = noon;
    made.ended = noon + length;
    return made;
}

std::uint16_t vbucket()
{
    return core::couchbase::vbucket_of(lasting(1s).record, eight);
}

std::vector<std::vector<int>> all_at(int node)
{
    return std::vector<std::vector<int>>(eight, {node, 1 - node});
}

class couchbase_waiting : public ::testing::Test {
protected:
    couchbase_waiting() { record_.note_map(noon - 1h, all_at(0)); }
    std::string check(const drill::operation& one) const
    {
        return check_waiting(std::span{&one, 1}, record_, 1500ms);
    }
    service_record record_;
};

TEST_F(couchbase_waiting, operation_that_takes_long_at_a_good_node_is_reported)
{
    EXPECT_EQ(check(lasting(1500ms)), "");
    EXPECT_EQ(check(lasting(1600ms)),
              "upsert of loose record 1.1 by client 0 took 1600 ms, and could have been served for "
              "1600 ms\n");
}

TEST_F(couchbase_waiting, time_in_which_the_node_was_disturbed_does_not_count)
{
    const std::size_t trouble = record_.disturb(noon + 500ms, 0);
    EXPECT_EQ(check(lasting(4s)), "");
    record_.calm(trouble, noon + 3s);
    EXPECT_EQ(check(lasting(4s)), "");
    EXPECT_NE(check(lasting(4600ms)), "");
}

TEST_F(couchbase_waiting, disturbance_of_another_node_is_no_excuse)
{
    record_.disturb(noon, 1);
    EXPECT_NE(check(lasting(2s)), "");
}

TEST_F(couchbase_waiting, disturbance_of_every_node_is_an_excuse)
{
    record_.disturb(noon, service_record::every_node);
    EXPECT_EQ(check(lasting(2s)), "");
}

TEST_F(couchbase_waiting, time_begins_anew_when_the_vbucket_moves)
{
    record_.note_map(noon + 1s, all_at(1));
    EXPECT_EQ(check(lasting(2400ms)), "");
    EXPECT_NE(check(lasting(2600ms)), "");
}

TEST_F(couchbase_waiting, move_of_another_vbucket_is_no_excuse)
{
    auto rows = all_at(0);
    rows[(vbucket() + 1U) % eight] = {1, 0};
    record_.note_map(noon + 1s, rows);
    EXPECT_NE(check(lasting(2s)), "");
}

TEST_F(couchbase_waiting, vbucket_without_a_node_cannot_be_served)
{
    record_.note_map(noon - 1s, std::vector<std::vector<int>>(eight, {-1, -1}));
    EXPECT_EQ(check(lasting(4s)), "");
}

TEST_F(couchbase_waiting, durable_writes_and_loops_of_several_operations_are_not_looked_at)
{
    EXPECT_EQ(check(lasting(4s, true)), "");
    drill::operation one = lasting(4s);
    one.what = drill::action::compare_and_swap;
    EXPECT_EQ(check(one), "");
}

TEST(couchbase_recovery, operations_that_fail_or_take_long_after_all_faults_are_reported)
{
    drill::operation early = lasting(4s);
    early.began = noon - 1ms;
    EXPECT_EQ(check_recovery(std::span{&early, 1}, noon, 1500ms), "");
    const drill::operation slow = lasting(1600ms);
    EXPECT_NE(check_recovery(std::span{&slow, 1}, noon, 1500ms).find("took too long"),
              std::string::npos);
    drill::operation failed = lasting(10ms);
    failed.end = drill::fate::unclear;
    EXPECT_NE(check_recovery(std::span{&failed, 1}, noon, 1500ms).find("has failed"),
              std::string::npos);
}

class couchbase_client_rules : public ::testing::Test {
protected:
    std::string complaints() const { return rules_.complaints(deeds_, 8); }
    couchbase_deeds deeds_;
    client_rules rules_;
    std::shared_ptr<couchbase::event_listener> listener_ = rules_.make_listener(deeds_);
};

TEST_F(couchbase_client_rules, configuration_that_goes_back_is_reported)
{
    listener_->on(couchbase::config_changed{.bucket = "a", .from = {}, .revision = "7"});
    listener_->on(couchbase::config_changed{.bucket = "b", .from = {}, .revision = "6"});
    EXPECT_EQ(complaints(), "");
    listener_->on(couchbase::config_changed{.bucket = "a", .from = {}, .revision = "7"});
    EXPECT_NE(complaints().find("a configuration went back"), std::string::npos);
}

TEST_F(couchbase_client_rules, connection_to_a_node_without_proof_is_reported)
{
    const couchbase::connection_opened opened{.bucket = "a", .server = endpoint{"n1:11210"}};
    listener_->on(opened);
    deeds_.unproven.insert("n2");
    listener_->on(opened);
    EXPECT_EQ(complaints(), "");
    deeds_.unproven.insert("n1");
    listener_->on(opened);
    EXPECT_EQ(complaints(), "a connection to n1:11210 was opened without its proof\n");
}

TEST_F(couchbase_client_rules, more_wrong_nodes_than_moves_explain_are_reported)
{
    couchbase::request_retried misrouted;
    misrouted.reason = couchbase::retry_reason::kv_not_my_vbucket;
    misrouted.scheduled = true;
    for (int n = 0; n < 3 * 8 * 10; ++n)
        listener_->on(misrouted);
    EXPECT_EQ(complaints(), "");
    listener_->on(misrouted);
    EXPECT_NE(complaints().find("241 requests went to nodes without their vbucket, of 240"),
              std::string::npos)
        << complaints();
    deeds_.moves = 1;
    EXPECT_EQ(complaints(), "");
}

}  // namespace
}  // namespace holdfast::truth
