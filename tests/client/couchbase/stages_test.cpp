// The three stages of a request (not sent, in flight, answered), and what may be sent again from
// each. Faults are placed by what the network has seen of the request.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_stages_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using proof::kv_scene;
using proof::labels_of;
using proof::use_awaitable;

/// One place where an attempt fails.
struct stage {
    const char* name;
    dispatch_phase phase;
    const char* reason;
    std::function<void(kv_scene&, kv_opcode)> arrange;
};

std::vector<stage> all_stages()
{
    const auto once = activation::times(1);
    return {
        {"no connection", dispatch_phase::not_sent, "SOCKET_NOT_AVAILABLE",
         [once](kv_scene& in, kv_opcode) {
             in.fault(0, kv_opcode::hello, proof::cut_fault(), once);
             in.simulation.reset_connections(in.app, in.host_of(0));
             in.simulation.run_for(1ms);
         }},
        {"cut before it is carried out", dispatch_phase::in_flight, "SOCKET_CLOSED_WHILE_IN_FLIGHT",
         [once](kv_scene& in, kv_opcode what) { in.fault(0, what, proof::cut_fault(), once); }},
        {"cut after it is carried out", dispatch_phase::in_flight, "SOCKET_CLOSED_WHILE_IN_FLIGHT",
         [once](kv_scene& in, kv_opcode what) {
             lab::couchbase::kv_fault before_reply;
             before_reply.cut_reply_at = 0;
             in.fault(0, what, before_reply, once);
         }},
        {"cut in the middle of the reply", dispatch_phase::in_flight,
         "SOCKET_CLOSED_WHILE_IN_FLIGHT",
         [once](kv_scene& in, kv_opcode what) {
             lab::couchbase::kv_fault half;
             half.cut_reply_at = 17;
             in.fault(0, what, half, once);
         }},
        {"refused by an answer", dispatch_phase::answered, "KV_TEMPORARY_FAILURE",
         [once](kv_scene& in, kv_opcode what) {
             in.fault(0, what, proof::status_fault(kv_status::temporary_failure), once);
         }},
    };
}

class couchbase_stages : public ::testing::Test {
protected:
    static void check_first_attempt(const error& why, const stage& failed)
    {
        ASSERT_FALSE(why.history().empty());
        EXPECT_EQ(why.history()[0].phase, failed.phase);
        EXPECT_EQ(labels_of(why).front(), failed.reason);
    }
};

TEST_F(couchbase_stages, get_is_retried_from_every_stage)
{
    VERIFIES_BY_TRAFFIC("CR-001");
    VERIFIES_BY_TRAFFIC("CR-005");
    for (const stage& one : all_stages()) {
        SCOPED_TRACE(one.name);
        kv_scene scene;
        scene.connect();
        scene.warm_up();
        one.arrange(scene, kv_opcode::get);
        const auto read = scene.get("warm1");
        EXPECT_TRUE(read->good()) << read->explain();
        EXPECT_LT(read->took(), 200ms);
        // The history of a success is not kept; that of an answer "not found" is.
        scene.simulation.run_for(2s);
        one.arrange(scene, kv_opcode::get);
        scene.count_requests(kv_opcode::get);
        const auto none = scene.get("none");
        EXPECT_EQ(none->code(), errc::document_not_found) << none->explain();
        ASSERT_GE(none->error().history().size(), 2u);
        check_first_attempt(none->error(), one);
        EXPECT_EQ(none->error().history().back().phase, dispatch_phase::answered);
        EXPECT_EQ(scene.counted(kv_opcode::get), one.phase == dispatch_phase::not_sent ? 1 : 2);
    }
}

TEST_F(couchbase_stages, change_is_retried_unless_it_was_in_flight)
{
    VERIFIES_BY_TRAFFIC("CR-001");
    VERIFIES_BY_TRAFFIC("CR-002");
    VERIFIES_BY_TRAFFIC("CR-003");
    for (const stage& one : all_stages()) {
        SCOPED_TRACE(one.name);
        kv_scene scene;
        scene.connect();
        scene.warm_up();
        // An insert of a document that is there ends with an error, and so with a history.
        one.arrange(scene, kv_opcode::insert);
        scene.count_requests(kv_opcode::insert);
        const couchbase::raw_json content{"{}"};
        const auto inserted = scene.run(
            scene.documents().insert("warm1", content, {}, use_awaitable));
        const bool in_flight = one.phase == dispatch_phase::in_flight;
        EXPECT_LT(inserted->took(), in_flight ? 50ms : 200ms);
        EXPECT_EQ(inserted->code(), in_flight ? errc::request_canceled : errc::document_exists)
            << inserted->explain();
        check_first_attempt(inserted->error(), one);
        EXPECT_EQ(inserted->error().context("may_have_been_applied"), in_flight ? "true" : "false");
        scene.simulation.run_for(2s);
        EXPECT_EQ(scene.counted(kv_opcode::insert), one.phase == dispatch_phase::answered ? 2 : 1);

        one.arrange(scene, kv_opcode::upsert);
        const auto stored = scene.upsert("a", "{}");
        EXPECT_EQ(stored->good(), !in_flight) << stored->explain();
    }
}

/// Text that no compression makes small.
std::string incompressible(kv_scene& in, std::size_t size)
{
    std::string text = "\"";
    while (text.size() < size)
        text += "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            [in.simulation.random() % 62];
    return text + '"';
}

TEST_F(couchbase_stages, request_of_which_no_byte_has_left_is_sent_again_whatever_it_is)
{
    VERIFIES_BY_TRAFFIC("CR-001");
    VERIFIES_BY_TRAFFIC("CR-002");
    kv_scene scene;
    scene.host_of(0).set_receive_buffer(4096);
    scene.connect();
    scene.warm_up();
    lab::couchbase::kv_fault deaf;
    deaf.stop_reading = true;
    scene.fault(0, kv_opcode::upsert, deaf, activation::times(1));
    scene.count_requests(kv_opcode::insert);
    const couchbase::raw_json small{"{}"};
    const couchbase::raw_json large{incompressible(scene, 100'000)};
    // The first one is ignored, the second fills the window, and the third stays behind it.
    const auto ignored = scene.start(scene.documents().upsert("a", small, {}, use_awaitable));
    scene.simulation.run_for(5ms);
    const auto cut_through = scene.start(scene.documents().upsert("b", large, {}, use_awaitable));
    scene.simulation.run_for(5ms);
    const auto behind = scene.start(scene.documents().insert("warm1", small, {}, use_awaitable));
    scene.simulation.run_for(5ms);
    EXPECT_FALSE(ignored->done() || cut_through->done() || behind->done());
    scene.simulation.reset_connections(scene.app, scene.host_of(0));
    ASSERT_TRUE(scene.finish([&] { return behind->done(); }));

    for (const auto& lost : {ignored, cut_through}) {
        EXPECT_EQ(lost->code(), errc::request_canceled) << lost->explain();
        EXPECT_EQ(lost->error().history()[0].phase, dispatch_phase::in_flight);
    }
    EXPECT_EQ(behind->code(), errc::document_exists) << behind->explain();
    EXPECT_EQ(behind->error().history()[0].phase, dispatch_phase::not_sent);
    EXPECT_EQ(labels_of(behind->error()).front(), "SOCKET_NOT_AVAILABLE");
    EXPECT_EQ(scene.counted(kv_opcode::insert), 1);
}

}  // namespace
}  // namespace holdfast::couchbase_stages_test
