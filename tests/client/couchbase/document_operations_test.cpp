// Every operation on whole documents, on the lab in the simulator.
#include "client/couchbase/operation_fixture.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_documents_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::durability;
using couchbase::errc;
using couchbase::expiry;
using couchbase::raw_json;
using proof::use_awaitable;

class couchbase_documents : public proof::operation_fixture {};

TEST_F(couchbase_documents, get_if_gives_nothing_for_a_document_that_is_not_there)
{
    const raw_json klm{R"({"name":"KLM"})"};
    EXPECT_FALSE(good(all.get_if("a", {}, use_awaitable)));
    good(all.upsert("a", klm, {}, use_awaitable));
    const auto found = good(all.get_if("a", {}, use_awaitable));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->content, klm);
    const std::string_view paths[] = {"name"};
    EXPECT_TRUE(good(all.get_if("a", {.with_expiry = true, .project = paths}, use_awaitable)));
    EXPECT_FALSE(good(all.get_if("b", {.with_expiry = true}, use_awaitable)));
}

TEST_F(couchbase_documents, insert_stores_once_and_then_says_that_the_document_exists)
{
    const raw_json one{"1"};
    const auto first = good(all.insert("a", one, {}, use_awaitable));
    EXPECT_TRUE(first.cas);
    ASSERT_TRUE(first.token);
    EXPECT_EQ(code(all.insert("a", one, {}, use_awaitable)), errc::document_exists);
    EXPECT_EQ(good(all.get("a", {}, use_awaitable)).cas, first.cas);
}

TEST_F(couchbase_documents, replace_needs_a_document_and_its_version_if_one_is_given)
{
    const raw_json one{"1"};
    EXPECT_EQ(code(all.replace("a", one, {}, use_awaitable)), errc::document_not_found);
    const auto first = good(all.upsert("a", one, {}, use_awaitable));
    const auto second = good(all.replace("a", one, {.cas = first.cas}, use_awaitable));
    EXPECT_NE(second.cas, first.cas);
    const auto late = scene.run(all.replace("a", one, {.cas = first.cas}, use_awaitable));
    EXPECT_EQ(late->code(), errc::cas_mismatch) << late->explain();
    EXPECT_EQ(late->error().context("may_have_been_applied"), "false");
    good(all.replace("a", one, {}, use_awaitable));
}

TEST_F(couchbase_documents, remove_takes_away_the_version_that_was_named)
{
    const raw_json one{"1"};
    EXPECT_EQ(code(all.remove("a", {}, use_awaitable)), errc::document_not_found);
    const auto first = good(all.upsert("a", one, {}, use_awaitable));
    const auto second = good(all.upsert("a", one, {}, use_awaitable));
    EXPECT_EQ(code(all.remove("a", {.cas = first.cas}, use_awaitable)), errc::cas_mismatch);
    EXPECT_TRUE(good(all.remove("a", {.cas = second.cas}, use_awaitable)).token);
    EXPECT_FALSE(good(all.exists("a", {}, use_awaitable)));
}

TEST_F(couchbase_documents, exists_gives_the_version_without_the_content)
{
    const raw_json one{"1"};
    EXPECT_FALSE(good(all.exists("a", {}, use_awaitable)).exists);
    const auto stored = good(all.upsert("a", one, {}, use_awaitable));
    const auto there = good(all.exists("a", {}, use_awaitable));
    EXPECT_TRUE(there);
    EXPECT_EQ(there.cas, stored.cas);
}

TEST_F(couchbase_documents, documents_cease_to_exist_when_their_time_is_over)
{
    const raw_json one{"1"};
    good(all.upsert("a", one, {.expiry = expiry::in(10s)}, use_awaitable));
    const auto kept = good(all.get("a", {.with_expiry = true}, use_awaitable));
    ASSERT_TRUE(kept.expiry);
    good(all.touch("a", expiry::in(1h), {}, use_awaitable));
    scene.simulation.run_for(20s);
    const auto touched = good(all.get_and_touch("a", expiry::in(5s), {}, use_awaitable));
    EXPECT_EQ(touched.content, one);
    scene.simulation.run_for(20s);
    EXPECT_EQ(code(all.get("a", {}, use_awaitable)), errc::document_not_found);
    EXPECT_EQ(code(all.touch("a", expiry::in(1h), {}, use_awaitable)), errc::document_not_found);
    EXPECT_EQ(code(all.get_and_touch("a", expiry::in(1h), {}, use_awaitable)),
              errc::document_not_found);
}

TEST_F(couchbase_documents, expiry_is_preserved_if_that_is_asked_for)
{
    const raw_json one{"1"};
    good(all.insert("a", one, {.expiry = expiry::in(1h)}, use_awaitable));
    good(all.upsert("a", one, {.preserve_expiry = true}, use_awaitable));
    EXPECT_TRUE(good(all.get("a", {.with_expiry = true}, use_awaitable)).expiry);
    good(all.replace("a", one, {.preserve_expiry = true}, use_awaitable));
    EXPECT_TRUE(good(all.get("a", {.with_expiry = true}, use_awaitable)).expiry);
    good(all.replace("a", one, {}, use_awaitable));
    EXPECT_FALSE(good(all.get("a", {.with_expiry = true}, use_awaitable)).expiry);
    EXPECT_EQ(code(all.upsert("a", one, {.expiry = expiry::in(1h), .preserve_expiry = true},
                              use_awaitable)),
              errc::invalid_argument);
}

TEST_F(couchbase_documents, locked_document_is_changed_by_the_owner_of_the_lock_only)
{
    VERIFIES_BY_TRAFFIC("CR-083");
    const raw_json one{"1"};
    const raw_json two{"2"};
    good(all.upsert("a", one, {}, use_awaitable));
    const auto locked = good(all.get_and_lock("a", 10s, {}, use_awaitable));
    EXPECT_EQ(locked.content, one);
    const auto late = scene.run(all.upsert("a", two, {.timeout = 1s}, use_awaitable));
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 1s);
    EXPECT_GE(late->error().history().size(), 5u);
    EXPECT_EQ(late->error().context("may_have_been_applied"), "false");
    EXPECT_EQ(code(all.get_and_lock("a", 1s, {.timeout = 100ms}, use_awaitable)),
              errc::unambiguous_timeout);
    good(all.replace("a", two, {.cas = locked.cas}, use_awaitable));
    good(all.upsert("a", one, {}, use_awaitable));
}

TEST_F(couchbase_documents, unlock_with_another_version_is_a_mismatch_and_one_request)
{
    VERIFIES_BY_TRAFFIC("CR-083");
    const raw_json one{"1"};
    const auto stored = good(all.upsert("a", one, {}, use_awaitable));
    const auto locked = good(all.get_and_lock("a", 10s, {}, use_awaitable));
    scene.count_requests(kv_opcode::unlock);
    EXPECT_EQ(code(all.unlock("a", stored.cas, {}, use_awaitable)), errc::cas_mismatch);
    EXPECT_EQ(scene.counted(kv_opcode::unlock), 1);
    EXPECT_TRUE(scene.run(all.unlock("a", locked.cas, {}, use_awaitable))->good());
    EXPECT_EQ(code(all.unlock("a", locked.cas, {}, use_awaitable)), errc::document_not_locked);
    good(all.upsert("a", one, {}, use_awaitable));
    EXPECT_EQ(code(all.unlock("a", {}, {}, use_awaitable)), errc::invalid_argument);
    EXPECT_EQ(code(all.unlock("none", {7}, {}, use_awaitable)), errc::document_not_found);
}

TEST_F(couchbase_documents, operation_that_waits_for_a_lock_goes_on_when_it_is_released)
{
    VERIFIES_BY_TRAFFIC("CR-058");
    const raw_json one{"1"};
    good(all.upsert("a", one, {}, use_awaitable));
    const auto locked = good(all.get_and_lock("a", 10s, {}, use_awaitable));
    const auto waits = scene.start(all.upsert("a", one, {}, use_awaitable));
    scene.simulation.run_for(300ms);
    EXPECT_FALSE(waits->done());
    ASSERT_TRUE(scene.run(all.unlock("a", locked.cas, {}, use_awaitable))->good());
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

TEST_F(couchbase_documents, bytes_are_added_at_both_ends)
{
    const couchbase::raw_text middle{"b"};
    const std::vector<std::uint8_t> octets{'c'};
    EXPECT_EQ(code(all.append("a", "x", {}, use_awaitable)), errc::document_not_found);
    EXPECT_EQ(code(all.prepend("a", "x", {}, use_awaitable)), errc::document_not_found);
    const auto stored = good(all.upsert("a", middle, {}, use_awaitable));
    const auto longer = good(all.append("a", octets, {.cas = stored.cas}, use_awaitable));
    EXPECT_EQ(code(all.prepend("a", "a", {.cas = stored.cas}, use_awaitable)), errc::cas_mismatch);
    good(all.prepend("a", std::string{"a"}, {.cas = longer.cas}, use_awaitable));
    EXPECT_EQ(good(all.get<couchbase::raw_text>("a", {}, use_awaitable)).content.text, "abc");
}

TEST_F(couchbase_documents, counters_count_from_their_initial_value_and_stop_at_zero)
{
    EXPECT_EQ(code(all.increment("n", {}, use_awaitable)), errc::document_not_found);
    EXPECT_EQ(good(all.increment("n", {.initial = 10}, use_awaitable)).value, 10u);
    const auto next = good(all.increment("n", {.delta = 5, .initial = 10}, use_awaitable));
    EXPECT_EQ(next.value, 15u);
    EXPECT_TRUE(next.cas);
    EXPECT_TRUE(next.token);
    EXPECT_EQ(good(all.decrement("n", {.delta = 3}, use_awaitable)).value, 12u);
    EXPECT_EQ(good(all.decrement("n", {.delta = 100}, use_awaitable)).value, 0u);
    EXPECT_EQ(code(all.decrement("none", {}, use_awaitable)), errc::document_not_found);
    const raw_json text{R"("no number")"};
    good(all.upsert("t", text, {}, use_awaitable));
    EXPECT_EQ(code(all.increment("t", {}, use_awaitable)), errc::delta_invalid);
}

TEST_F(couchbase_documents, arguments_that_no_server_takes_are_refused_before_anything_is_sent)
{
    const raw_json one{"1"};
    const std::string long_id(251, 'a');
    EXPECT_EQ(code(all.insert("", one, {}, use_awaitable)), errc::invalid_argument);
    EXPECT_EQ(code(all.remove(long_id, {}, use_awaitable)), errc::invalid_argument);
    EXPECT_EQ(code(all.get_and_lock("a", 31s, {}, use_awaitable)), errc::invalid_argument);
    EXPECT_EQ(code(all.get_and_lock("a", 0s, {}, use_awaitable)), errc::invalid_argument);
    EXPECT_EQ(code(all.touch("a", expiry::in(0s), {}, use_awaitable)), errc::invalid_argument);
    EXPECT_EQ(code(all.increment("a", {.expiry = expiry::in(1h), .preserve_expiry = true},
                                 use_awaitable)),
              errc::invalid_argument);
}

TEST_F(couchbase_documents, throwing_forms_and_futures_give_the_same)
{
    const auto work = [](couchbase::collection in) -> runtime::awaitable<int> {
        const raw_json one{"1"};
        const auto stored = co_await in.insert("a", one);
        co_await in.touch("a", expiry::in(1h));
        co_await in.append("a", " ");
        const auto locked = co_await in.get_and_lock("a", 5s);
        co_await in.unlock("a", locked.cas);
        int thrown = 0;
        try {
            co_await in.replace("a", one, {.cas = stored.cas});
        } catch (const failure& failed) {
            thrown += failed.error().code() == errc::cas_mismatch;
        }
        try {
            co_await in.unlock("a", stored.cas);
        } catch (const failure&) {
            ++thrown;
        }
        const auto none = co_await in.get_if("none");
        co_return thrown + (none ? 10 : 0);
    };
    EXPECT_EQ(scene.wait_for(work(all)), 2);
    auto counted = all.increment("n", {.initial = 1}, boost::asio::use_future);
    auto unlocked = all.unlock("none", {7}, {}, boost::asio::use_future);
    scene.simulation.run_for(100ms);
    EXPECT_EQ(counted.get().value().value, 1u);
    EXPECT_EQ(unlocked.get().error().code(), errc::document_not_found);
}

TEST_F(couchbase_documents, readiness_takes_every_completion_token)
{
    const auto ready = scene.run((*scene.client)["travel"].ready({}, use_awaitable));
    EXPECT_TRUE(ready->good()) << ready->explain();
    std::optional<error_code> code;
    (*scene.client)["nowhere"].ready({.timeout = 1s}, [&](const result<void>& got) {
        code = got ? error_code{} : got.error().code();
    });
    ASSERT_TRUE(scene.finish([&] { return code.has_value(); }));
    EXPECT_NE(*code, error_code{});
    const auto whole = scene.run(scene.client->ready({}, use_awaitable));
    EXPECT_TRUE(whole->good()) << whole->explain();
}

TEST_F(couchbase_documents, cancelled_change_in_flight_may_have_been_applied)
{
    const raw_json one{"1"};
    good(all.upsert("a", one, {}, use_awaitable));
    lab::couchbase::kv_fault slow;
    slow.reply_delay = 100ms;
    scene.fault_everywhere(kv_opcode::insert, slow, lab::activation::always());
    scene.fault_everywhere(kv_opcode::get_meta, slow, lab::activation::always());
    boost::asio::cancellation_signal stop;
    std::optional<error> seen;
    all.insert("b", one, {}, boost::asio::bind_cancellation_slot(stop.slot(), [&](const auto& got) {
                   seen = got.error();
               }));
    scene.simulation.run_for(10ms);
    stop.emit(boost::asio::cancellation_type::terminal);
    ASSERT_TRUE(scene.finish([&] { return seen.has_value(); }));
    EXPECT_EQ(seen->code(), errc::request_canceled);
    EXPECT_EQ(seen->context("may_have_been_applied"), "true") << seen->explain();
    scene.simulation.run_for(1s);
    EXPECT_TRUE(good(all.get_if("b", {}, use_awaitable))) << "it was applied indeed";
}

TEST_F(couchbase_documents, strategy_and_context_of_an_operation_decide_on_its_retries)
{
    const couchbase::retry_strategy_ptr quick =
        std::make_shared<couchbase::best_effort_retry_strategy>(
            [](std::uint32_t) -> duration { return 1ms; });
    const raw_json one{"1"};
    good(all.upsert("a", one, {}, use_awaitable));
    lab::couchbase::kv_fault busy;
    busy.error_code = 0x86;
    scene.fault_everywhere(kv_opcode::remove, busy, lab::activation::times(20));
    const auto removed = scene.run(all.remove("a", {.strategy = &quick}, use_awaitable));
    ASSERT_TRUE(removed->good()) << removed->explain();
    EXPECT_EQ(removed->took(), 20 * 1ms + 21 * 2ms);
}

}  // namespace
}  // namespace holdfast::couchbase_documents_test
