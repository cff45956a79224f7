// What becomes of requests whose connection is lost, or never there, and of rows that break off.
#include "client/couchbase/service_retries.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>

namespace holdfast::couchbase_service_cuts_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::http_method;
using couchbase::retry_reason;
using couchbase::service_type;
using proof::outcome;
using proof::outcome_of;
using proof::reply_of;
using proof::reply_with_rows;
using proof::use_awaitable;

class couchbase_service_cuts : public proof::service_retries {};

TEST_F(couchbase_service_cuts, statement_that_was_cut_is_sent_again_only_if_it_is_readonly)
{
    VERIFIES_BY_TRAFFIC("CR-077");
    scene.answer("n1ql", reply_with_rows({"1"}));
    scene.answer("cbas", reply_with_rows({"1"}));
    for (const bool readonly : {true, false}) {
        for (const char* const service : {"query", "analytics"}) {
            cut(service, 1);
            const auto before = cuts();
            const outcome got = service == std::string{"query"} ? query({.readonly = readonly})
                                                                : analytics({.readonly = readonly});
            EXPECT_EQ(cuts() - before, 1) << service;
            EXPECT_EQ(got.good, readonly) << service << got.story;
            if (readonly)
                continue;
            EXPECT_EQ(got.code, errc::request_canceled) << got.story;
            EXPECT_TRUE(got.possibly_applied);
            EXPECT_EQ(got.reasons.back(), "SOCKET_CLOSED_WHILE_IN_FLIGHT");
        }
    }
    cut("query", 1);
    EXPECT_FALSE(query().good) << "not said to be readonly";
    for (const auto& seen : scene.seen("n1ql"))
        EXPECT_EQ(seen.member("readonly"), "true") << "the server is to hold it to that";
}

TEST_F(couchbase_service_cuts, search_and_views_that_were_cut_are_sent_again)
{
    VERIFIES_BY_TRAFFIC("CR-078");
    scene.answer("fts", reply_of(200, no_hits));
    scene.answer("capi", reply_of(200, no_rows));
    cut("search", 1);
    EXPECT_TRUE(search().good);
    EXPECT_EQ(cuts(), 1);
    EXPECT_EQ(scene.seen("fts").at(0).what.method, "POST");
    cut("views", 1);
    EXPECT_TRUE(view().good);
    EXPECT_EQ(scene.asked("capi"), 1u);
}

TEST_F(couchbase_service_cuts, management_request_that_was_cut_is_sent_again_only_if_it_is_get)
{
    VERIFIES_BY_TRAFFIC("CR-079");
    for (const http_method method : {http_method::get, http_method::post, http_method::put,
                                     http_method::patch, http_method::remove}) {
        cut("management", 1);
        const outcome got = http(method);
        EXPECT_EQ(got.good, method == http_method::get) << static_cast<int>(method) << got.story;
        EXPECT_TRUE(got.good || got.code == errc::request_canceled) << got.story;
    }
}

TEST_F(couchbase_service_cuts, answer_of_management_is_an_answer_whatever_its_status)
{
    VERIFIES_BY_TRAFFIC("CR-079");
    scene.answer("mgmt", reply_of(503, "not now"));
    for (const http_method method : {http_method::get, http_method::post}) {
        scene.forget_seen();
        const auto got = scene.run(
            scene.client->http(service_type::management, method, "/x", {}, use_awaitable));
        ASSERT_TRUE(got->good()) << got->explain();
        EXPECT_EQ((*got->outcome)->status, 503);
        EXPECT_EQ((*got->outcome)->body, "not now");
        EXPECT_EQ(scene.asked("mgmt"), 1u);
    }
    const auto bucket = scene.run(scene.client->buckets().get("travel", {}, use_awaitable));
    EXPECT_EQ(bucket->code(), errc::internal_server_failure) << bucket->explain();
    EXPECT_TRUE(asked->asked.empty());
}

TEST_F(couchbase_service_cuts, what_was_not_sent_is_sent_later_whatever_it_is)
{
    VERIFIES_BY_TRAFFIC("CR-079");
    VERIFIES_BY_TRAFFIC("CR-050");
    for (const char* const service : {"n1ql", "mgmt"}) {
        for (std::size_t n = 0; n != 2; ++n)
            ASSERT_TRUE(scene.cluster->close_port(n, service));
    }
    scene.answer("n1ql", reply_with_rows({"1"}));
    auto rows = scene.client->query("UPDATE x SET y = 1");
    const auto change = scene.start(rows.all<couchbase::raw_json>(use_awaitable));
    const auto post = scene.start(
        scene.client->http(service_type::management, http_method::post, "/x", {}, use_awaitable));
    scene.simulation.run_for(2s);
    EXPECT_FALSE(change->done());
    EXPECT_FALSE(post->done());
    for (std::size_t n = 0; n != 2; ++n)
        ASSERT_TRUE(scene.cluster->open_port_again(n));
    ASSERT_TRUE(scene.finish([&] { return change->done() && post->done(); }));
    EXPECT_TRUE(change->good()) << change->explain();
    EXPECT_TRUE(post->good()) << post->explain();
    EXPECT_EQ(scene.asked("n1ql"), 1u);
}

TEST_F(couchbase_service_cuts, service_that_no_node_has_is_the_reason)
{
    VERIFIES_BY_TRAFFIC("CR-050");
    scene.answer("n1ql", reply_with_rows({"1"}));
    for (std::size_t n = 0; n != 2; ++n)
        ASSERT_TRUE(scene.cluster->admin().remove_service(n, "n1ql"));
    scene.simulation.run_for(5s);
    const outcome none = query({.timeout = 3s});
    EXPECT_EQ(none.code, errc::unambiguous_timeout) << none.story;
    EXPECT_TRUE(asked->was_asked_for(retry_reason::service_not_available));
    EXPECT_EQ(scene.asked("n1ql"), 0u);
    auto rows = scene.client->query("SELECT 1");
    const auto waits = scene.start(rows.all<couchbase::raw_json>(use_awaitable));
    scene.simulation.run_for(3s);
    ASSERT_TRUE(scene.cluster->admin().add_service(1, "n1ql"));
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

// ---- Rows ----

TEST_F(couchbase_service_cuts, reply_that_breaks_before_its_first_row_is_asked_for_again)
{
    scene.answer("n1ql", reply_with_rows({"1", "2"}));
    lab::couchbase_fault what;
    what.service = "query";
    what.cut_reply_at = 60;
    what.times = 1;
    ASSERT_TRUE(scene.cluster->faults().set("cut", what));
    const auto done = scene.query("SELECT 1", {.readonly = true});
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_EQ((*done->outcome)->size(), 2u);
    EXPECT_EQ(scene.asked("n1ql"), 2u);
}

TEST_F(couchbase_service_cuts, error_after_rows_gives_their_number)
{
    scene.answer("n1ql", [](const auto&) {
        return reply_of(200, R"({"results":[1,2,3],"errors":[{"code":5000,"msg":"lost"}],)"
                             R"("status":"errors"})");
    });
    auto rows = scene.client->query("SELECT 1", {.readonly = true});
    for (int n = 1; n <= 3; ++n) {
        const auto one = scene.run(rows.next<int>(use_awaitable));
        ASSERT_TRUE(one->good()) << one->explain();
        EXPECT_EQ(**one->outcome, n);
    }
    const outcome failed = outcome_of(scene.run(rows.next<int>(use_awaitable)));
    EXPECT_EQ(failed.code, errc::internal_server_failure) << failed.story;
    EXPECT_EQ(failed.rows, "3");
    EXPECT_NE(failed.story.find("rows: 3"), std::string::npos) << failed.story;
    const auto after = scene.run(rows.next<int>(use_awaitable));
    ASSERT_TRUE(after->good());
    EXPECT_FALSE(**after->outcome);
    EXPECT_EQ(scene.asked("n1ql"), 1u);
}

TEST_F(couchbase_service_cuts, cut_after_rows_is_an_error_with_their_number)
{
    std::vector<std::string> many(1'000, "7");
    scene.answer("n1ql", reply_with_rows(many));
    lab::couchbase_fault what;
    what.service = "query";
    what.cut_reply_at = 1'200;
    ASSERT_TRUE(scene.cluster->faults().set("cut", what));
    const outcome failed = query({.readonly = true});
    EXPECT_FALSE(failed.good);
    EXPECT_EQ(failed.code, errc::request_canceled) << failed.story;
    EXPECT_GT(std::stoi("0" + failed.rows), 100) << failed.story;
    EXPECT_EQ(scene.asked("n1ql"), 1u);
}

}  // namespace
}  // namespace holdfast::couchbase_service_cuts_test
