#include "lab/couchbase/serve/kv_link.hpp"

#include <chrono>
#include <string>

namespace holdfast::lab::couchbase::faults_test {
namespace {

using namespace std::chrono_literals;

class lab_couchbase_faults : public kv_nodes {
protected:
    lab_couchbase_faults() { bootstrap(link); }

    void plant(kv_fault effect, activation when = activation::always())
    {
        kv_fault_plan::entry made;
        made.effect = std::move(effect);
        made.chooses = [](const kv_target& one) {
            return one.opcode == kv_opcode::upsert && one.bucket == "travel" &&
                   one.key.ends_with('k');
        };
        made.when = when;
        first.faults.set("test", std::move(made));
    }
    got_reply set() { return link.ask(upsert()); }
    sent_request upsert() const
    {
        sent_request made{.opcode = kv_opcode::upsert, .key = "k", .value = "1"};
        made.extras = std::string(8, '\0');
        made.vbucket = mine;
        made.collection = 0;
        return made;
    }
    bool stored() { return first.buckets.at("travel").vbuckets.at(mine).find({0, "k"}) != nullptr; }

    const std::uint16_t mine = first.buckets.at("travel").vbuckets.begin()->first;
};

TEST_F(lab_couchbase_faults, status_is_answered_as_often_as_planned_and_nothing_is_done)
{
    kv_fault busy;
    busy.error_code = 0x7ff0;
    busy.body = "why";
    plant(busy, activation::times(2));
    for (int n = 0; n != 2; ++n) {
        const auto refused = set();
        EXPECT_EQ(refused.status, kv_status{0x7ff0});
        EXPECT_EQ(refused.value, "why");
        EXPECT_FALSE(stored());
    }
    EXPECT_EQ(set().status, kv_status::success);
}

TEST_F(lab_couchbase_faults, request_that_is_not_chosen_is_answered)
{
    kv_fault closing;
    closing.close_connection = true;
    plant(closing);
    EXPECT_EQ(link.ask({.opcode = kv_opcode::noop}).status, kv_status::success);
    auto other = upsert();
    other.key = "other";
    EXPECT_EQ(link.ask(other).status, kv_status::success);
}

TEST_F(lab_couchbase_faults, connection_is_closed_before_or_after_the_request_is_carried_out)
{
    kv_fault closing;
    closing.close_connection = true;
    plant(closing);
    set();
    EXPECT_EQ(link.last_need, need::nothing);
    EXPECT_FALSE(stored());

    kv_link again{first};
    bootstrap(again);
    kv_fault cutting;
    cutting.cut_reply_at = 10;
    plant(cutting);
    again.write(upsert(), 1);
    EXPECT_EQ(again.flush(), need::nothing);
    EXPECT_EQ(again.to.written.size(), 10u);
    EXPECT_TRUE(stored());
}

TEST_F(lab_couchbase_faults, reply_is_left_out_or_sent_twice)
{
    kv_fault silent;
    silent.silent = true;
    plant(silent);
    link.write(upsert(), 1);
    EXPECT_EQ(link.flush(), need::bytes);
    EXPECT_TRUE(link.replies().empty());
    EXPECT_TRUE(stored());
    kv_fault twice;
    twice.replies = 2;
    plant(twice);
    link.write(upsert(), 2);
    link.flush();
    const auto all = link.replies();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].cas, all[1].cas);
    EXPECT_EQ(all[1].opaque, 2u);
}

TEST_F(lab_couchbase_faults, frame_infos_of_a_damaged_reply_end_in_the_middle)
{
    kv_fault broken;
    broken.damage = frame_damage::bad_framing;
    plant(broken);
    link.write(upsert(), 1);
    link.flush();
    const auto& bytes = link.to.written;
    ASSERT_EQ(bytes.size(), 25u);
    EXPECT_EQ(bytes[0], 0x18);  // an "alt" reply
    EXPECT_EQ(bytes[2], 1);     // with one byte of framing
    EXPECT_EQ(bytes[24], 0x0e);  // that announces fourteen
}

TEST_F(lab_couchbase_faults, delayed_request_is_carried_out_when_its_time_has_come)
{
    kv_fault slow;
    slow.delay = 100ms;
    plant(slow, activation::times(1));
    link.write({.opcode = kv_opcode::noop}, 1);
    link.write(upsert(), 2);
    link.write({.opcode = kv_opcode::noop}, 3);
    EXPECT_EQ(link.flush(), need::time);
    EXPECT_EQ(link.replies().size(), 1u);
    EXPECT_EQ(link.talk.wake_at(), there.world().steady_now() + 100ms);
    EXPECT_FALSE(stored());
    net.run_for(99ms);
    EXPECT_EQ(link.talk.advance(link.to), need::time);
    net.run_for(1ms);
    EXPECT_EQ(link.talk.advance(link.to), need::bytes);
    EXPECT_TRUE(stored());
    const auto all = link.replies();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].opaque, 2u);
    EXPECT_EQ(all[1].opaque, 3u);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::faults_test
