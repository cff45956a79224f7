// Requests to HTTP services, as the retry loop makes them: which node they go to, what each attempt
// sends, and when there is another.
#include "client/couchbase/retry_support.hpp"
#include "client/couchbase/service_scene.hpp"
#include "core/couchbase/service/service_idempotent.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_service_requests_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::retry_reason;
using proof::http_answer;
using proof::http_ok;
using proof::http_seen;
using proof::labels_of;
using proof::observing_strategy;
using proof::scripted_operation;
using proof::service_scene;
using proof::service_wish;

TEST(couchbase_service_requests, request_has_login_host_and_agent_and_its_reply_is_given_out)
{
    service_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) { return http_ok("{\"a\":1}", 201); });
    scene.connect();
    const auto done = scene.request();
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_EQ((*done->outcome)->status, 201);
    EXPECT_EQ((*done->outcome)->body, "{\"a\":1}");
    EXPECT_EQ((*done->outcome)->content_type, "application/json");
    EXPECT_EQ((*done->outcome)->server.value(), "n0:8093");
    ASSERT_EQ(service.seen().size(), 1u);
    const http_seen seen = service.seen().front();
    EXPECT_EQ(seen.method, "POST");
    EXPECT_EQ(seen.target, "/query/service");
    EXPECT_EQ(seen.header("Host"), "n0:8093");
    EXPECT_EQ(seen.header("Authorization"), "Basic YWRhOmxvdmVsYWNl");
    EXPECT_EQ(seen.header("User-Agent").rfind("holdfast/", 0), 0u) << seen.head;
    EXPECT_EQ(seen.header("Content-Type"), "application/json");

    scene.client->set_authenticator(service_scene::login("babbage"));
    (void)scene.request();
    EXPECT_EQ(service.seen().back().header("Authorization"), "Basic YWRhOmJhYmJhZ2U=");
    EXPECT_EQ(service.connections(), 1u);
}

TEST(couchbase_service_requests, nodes_with_the_service_are_used_in_turn)
{
    service_scene scene{{.nodes = 3}};
    auto& zero = scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
    auto& two = scene.serve(2, [](const http_seen&) { return http_ok("{}"); });
    scene.connect();
    for (int n = 0; n != 10; ++n)
        EXPECT_TRUE(scene.request()->good());
    EXPECT_EQ(zero.seen().size(), 5u);
    EXPECT_EQ(two.seen().size(), 5u);
    EXPECT_EQ(zero.connections(), 1u);
    service_wish only;
    only.only = endpoint{"n2:8093"};
    for (int n = 0; n != 4; ++n)
        EXPECT_TRUE(scene.request(only)->good());
    EXPECT_EQ(two.seen().size(), 9u);
}

TEST(couchbase_service_requests, service_that_no_node_has_is_waited_for_by_the_strategy)
{
    VERIFIES_BY_TRAFFIC("CR-050");
    service_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    const auto strategy = std::make_shared<observing_strategy>();
    for (const bool idempotent : {true, false}) {
        service_wish wish;
        wish.strategy = strategy;
        wish.idempotent = idempotent;
        wish.timeout = 600ms;
        const auto late = scene.request(wish);
        EXPECT_EQ(late->code(), errc::unambiguous_timeout);
        EXPECT_EQ(late->took(), 600ms);
        EXPECT_EQ(strategy->reasons(),
                  std::vector<retry_reason>{retry_reason::service_not_available});
        EXPECT_EQ(labels_of(late->error()).front(), "SERVICE_NOT_AVAILABLE");
        EXPECT_NE(late->error().message().find("a node with the query service"), std::string::npos)
            << late->error().message();
        EXPECT_EQ(late->error().context("service"), "query");
    }
    service_wish wish;
    wish.idempotent = false;
    const auto waits = scene.start_request(wish);
    scene.simulation.run_for(300ms);
    EXPECT_FALSE(waits->done());
    scene.serve(1, [](const http_seen&) { return http_ok("{}"); });
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
    EXPECT_LT(waits->took(), 1s);
}

TEST(couchbase_service_requests, node_that_cannot_be_reached_is_avoided_in_the_next_attempt)
{
    VERIFIES_BY_TRAFFIC("CR-049");
    service_scene scene{{.nodes = 2}};
    auto& good = scene.serve(1, [](const http_seen&) { return http_ok("{}"); });
    scene.cluster->set_service(0, "n1ql", 8093);  // where nothing listens
    scene.connect();
    const auto strategy = std::make_shared<observing_strategy>();
    service_wish wish;
    wish.strategy = strategy;
    wish.idempotent = false;
    for (int n = 0; n != 6; ++n)
        EXPECT_TRUE(scene.request(wish)->good());
    EXPECT_EQ(good.seen().size(), 6u);
    EXPECT_EQ(strategy->reasons(), std::vector<retry_reason>{retry_reason::socket_not_available});
    EXPECT_EQ(strategy->asked.size(), 3u) << "every other request began there";

    wish.only = endpoint{"n0:8093"};
    wish.timeout = 100ms;
    const auto late = scene.request(wish);
    EXPECT_EQ(late->code(), errc::unambiguous_timeout);
    EXPECT_NE(late->error().message().find("n0:8093"), std::string::npos)
        << late->error().message();
    EXPECT_EQ(late->error().context("server"), "n0:8093");
}

TEST(couchbase_service_requests, cut_in_flight_is_repeated_if_idempotent_and_else_cancelled)
{
    VERIFIES_BY_TRAFFIC("CR-079");
    using core::couchbase::http_method;
    struct row { http_method method; bool is_retried; };
    const row table[] = {{http_method::get, true},
                         {http_method::post, false},
                         {http_method::put, false},
                         {http_method::remove, false}};
    for (const row& r : table) {
        service_scene scene{{.nodes = 2}};
        std::size_t requests = 0;
        for (const std::size_t node : {0, 1})
            scene.serve(
                node,
                [&](const http_seen&) {
                    return ++requests == 1 ? proof::http_hang_up() : http_ok("{}");
                },
                "mgmt", 8091);
        scene.connect();
        service_wish wish;
        wish.service = core::couchbase::service_type::management;
        wish.idempotent = is_idempotent(core::couchbase::management_request{r.method});
        wish.operation = std::make_shared<scripted_operation>();
        wish.operation->build = [&](const proof::attempt_view&) {
            proof::service_request made;
            made.method = r.method;
            made.path = "/pools/default/buckets";
            return made;
        };
        const auto done = scene.request(wish);
        EXPECT_EQ(done->good(), r.is_retried) << done->explain();
        EXPECT_EQ(requests, r.is_retried ? 2u : 1u);
        if (r.is_retried)
            continue;
        EXPECT_EQ(done->code(), errc::request_canceled);
        EXPECT_EQ(done->error().context("may_have_been_applied"), "true");
        ASSERT_EQ(done->error().history().size(), 1u);
        EXPECT_EQ(done->error().history()[0].phase, dispatch_phase::in_flight);
        EXPECT_EQ(labels_of(done->error()).front(), "SOCKET_CLOSED_WHILE_IN_FLIGHT");
    }
}

TEST(couchbase_service_requests, answer_is_retried_as_its_classification_says)
{
    VERIFIES_BY_TRAFFIC("CR-057");
    for (const bool has_reason : {true, false}) {
        service_scene scene{{.nodes = 2}};
        std::vector<std::string> asked;
        for (const std::size_t node : {0, 1})
            scene.serve(node, [&asked](const http_seen& what) {
                asked.push_back(what.header("Host"));
                return asked.size() < 4 ? http_ok("{\"errors\":[]}", 503) : http_ok("{}");
            });
        scene.connect();
        service_wish wish;
        wish.idempotent = false;  // the service says that nothing has happened
        wish.operation = std::make_shared<scripted_operation>();
        wish.operation->meaning = [&](const proof::service_reply_view& reply) {
            std::optional<proof::classification> meant;
            if (reply.status == 200)
                return meant;
            meant.emplace();
            meant->code = errc::internal_server_failure;
            meant->message = "busy";
            if (has_reason)
                meant->reason = retry_reason::service_response_code_indicated;
            return meant;
        };
        const auto done = scene.request(wish);
        EXPECT_EQ(done->good(), has_reason) << done->explain();
        EXPECT_EQ(asked.size(), has_reason ? 4u : 1u);
        if (!has_reason) {
            EXPECT_EQ(done->code(), errc::internal_server_failure);
            EXPECT_EQ(done->error().context("http_status"), "503");
            EXPECT_EQ(done->error().context("may_have_been_applied"), "false");
            continue;
        }
        EXPECT_GE(done->took(), 1ms + 2ms + 4ms) << "the waits of best effort";
        for (std::size_t n = 1; n != asked.size(); ++n)
            EXPECT_NE(asked[n], asked[n - 1]) << "not the node that has just failed";
    }
}

TEST(couchbase_service_requests, each_attempt_is_built_with_the_time_that_is_left)
{
    service_scene scene{{.nodes = 1}};
    auto& service = scene.serve(
        0, [](const http_seen&) -> http_answer { return {.delay = 300ms, .closes = true}; });
    scene.connect();
    scene.warm_up();
    service_wish wish;
    wish.timeout = 1s;
    const auto late = scene.request(wish);
    EXPECT_EQ(late->code(), errc::unambiguous_timeout);
    EXPECT_EQ(late->took(), 1s);
    std::vector<int> left;
    for (const http_seen& one : service.seen())
        left.push_back(std::stoi(one.body.substr(one.body.find(':') + 2)));
    ASSERT_GE(left.size(), 3u);
    EXPECT_EQ(left[0], 1000);
    EXPECT_LT(left[1], 700);
    EXPECT_GT(left[1], 650);
    EXPECT_LT(left[2], 400);
    const std::size_t sent = service.seen().size();
    scene.simulation.run_for(3s);
    EXPECT_EQ(service.seen().size(), sent) << "nothing leaves after the deadline";
}

TEST(couchbase_service_requests,
     deadline_of_a_request_in_flight_is_ambiguous_unless_it_is_idempotent)
{
    service_scene scene;
    scene.serve(0, [](const http_seen&) -> http_answer { return {}; });
    scene.connect();
    for (const bool idempotent : {true, false}) {
        service_wish wish;
        wish.idempotent = idempotent;
        wish.timeout = 200ms;
        const auto late = scene.request(wish);
        EXPECT_EQ(late->code(), idempotent ? errc::unambiguous_timeout : errc::ambiguous_timeout);
        EXPECT_EQ(late->took(), 200ms);
        ASSERT_EQ(late->error().history().size(), 1u);
        EXPECT_EQ(late->error().history()[0].phase, dispatch_phase::in_flight);
        EXPECT_EQ(late->error().history()[0].server.value(), "n0:8093");
    }
}

TEST(couchbase_service_requests, request_that_was_never_sent_says_what_it_has_waited_for)
{
    service_scene scene;
    scene.host_of(0).crash();
    scene.connect();
    service_wish wish;
    wish.timeout = 500ms;
    wish.idempotent = false;
    const auto late = scene.request(wish);
    EXPECT_EQ(late->code(), errc::unambiguous_timeout);
    EXPECT_EQ(late->took(), 500ms);
    EXPECT_NE(late->error().message().find("it was never sent: the cluster: no configuration yet"),
              std::string::npos)
        << late->error().message();
    EXPECT_NE(late->error().message().find("n0:11210"), std::string::npos);
}

TEST(couchbase_service_requests, closed_cluster_ends_requests_at_once)
{
    service_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) -> http_answer { return {}; });
    scene.connect();
    const auto in_flight = scene.start_request();
    scene.simulation.run_for(100ms);
    ASSERT_EQ(service.seen().size(), 1u);
    bool closed = false;
    const auto close = [&]() -> runtime::awaitable<void> {
        co_await scene.client->close();
        closed = true;
    };
    scene.app.start(close());
    ASSERT_TRUE(scene.finish([&] { return closed && in_flight->done(); }));
    EXPECT_EQ(in_flight->code(), errc::closed) << in_flight->explain();
    EXPECT_EQ(scene.request()->code(), errc::closed);
    scene.simulation.run_for(100ms);
    EXPECT_EQ(service.open_connections(), 0u);
}

TEST(couchbase_service_requests, node_without_the_service_any_more_is_not_used_and_its_pool_drained)
{
    service_scene scene{{.nodes = 2}};
    const auto slow = [](const http_seen&) -> http_answer {
        return {.bytes = proof::http_reply_text("{}"), .delay = 500ms};
    };
    auto& zero = scene.serve(0, slow);
    auto& one = scene.serve(1, slow);
    scene.connect();
    std::vector<proof::kv_run<shell::couchbase::whole_reply>> all;
    for (int n = 0; n != 4; ++n)
        all.push_back(scene.start_request());
    scene.simulation.run_for(100ms);
    EXPECT_EQ(zero.seen().size() + one.seen().size(), 4u);
    scene.cluster->set_service(0, "n1ql", 0);
    scene.simulation.run_for(100ms);
    EXPECT_EQ(zero.open_connections(), 2u) << "what is in flight comes to its end";
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& run) { return run->done(); }); }));
    for (const auto& run : all)
        EXPECT_TRUE(run->good()) << run->explain();
    scene.simulation.run_for(100ms);
    EXPECT_EQ(zero.open_connections(), 0u);
    for (int n = 0; n != 4; ++n)
        EXPECT_TRUE(scene.request()->good());
    EXPECT_EQ(zero.seen().size(), 2u);
    service_wish wish;
    wish.only = endpoint{"n0:8093"};
    wish.timeout = 100ms;
    EXPECT_EQ(labels_of(scene.request(wish)->error()).front(), "NODE_NOT_AVAILABLE");
}

TEST(couchbase_service_requests, reply_to_a_step_is_followed_by_the_next_request_without_a_retry)
{
    service_scene scene;
    auto& service = scene.serve(0, [](const http_seen& what) { return http_ok(what.body); });
    scene.connect();
    const auto strategy = std::make_shared<observing_strategy>();
    service_wish wish;
    wish.strategy = strategy;
    wish.operation = std::make_shared<scripted_operation>();
    int built = 0;
    wish.operation->build = [&](const proof::attempt_view& of) {
        EXPECT_TRUE(of.config.bucket || !of.config.nodes.empty());
        proof::service_request made;
        made.method = core::couchbase::http_method::post;
        made.body = std::to_string(++built);
        return made;
    };
    wish.operation->step = [&] { return built == 1; };
    const auto done = scene.request(wish);
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_EQ((*done->outcome)->body, "2");
    EXPECT_EQ(service.seen().size(), 2u);
    EXPECT_TRUE(strategy->asked.empty());
    wish.operation->step = [] { return true; };
    EXPECT_EQ(scene.request(wish)->code(), errc::internal_server_failure) << "not for ever";
}

TEST(couchbase_service_requests, request_that_cannot_be_built_is_not_sent)
{
    service_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
    scene.connect();
    service_wish wish;
    wish.operation = std::make_shared<scripted_operation>();
    wish.operation->build =
        [](const proof::attempt_view&) -> result<core::couchbase::service_request> {
        return error{errc::invalid_argument, "no"};
    };
    EXPECT_EQ(scene.request(wish)->code(), errc::invalid_argument);
    wish.operation->build = [](const proof::attempt_view&) {
        proof::service_request made;
        made.path = "/a\r\nX-Evil: 1";
        return made;
    };
    const auto refused = scene.request(wish);
    EXPECT_EQ(refused->code(), errc::invalid_argument);
    EXPECT_EQ(refused->error().history()[0].phase, dispatch_phase::not_sent);
    EXPECT_TRUE(service.seen().empty());
}

TEST(couchbase_service_requests, reply_that_is_no_http_ends_the_request)
{
    service_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) -> http_answer {
        return {.bytes = "220 mail.example.com ESMTP\r\n"};
    });
    scene.connect();
    service_wish wish;
    wish.idempotent = false;
    const auto done = scene.request(wish);
    EXPECT_EQ(done->code(), errc::decoding_failure);
    EXPECT_EQ(done->error().context("may_have_been_applied"), "true");
    EXPECT_NE(done->error().message().find("n0:8093"), std::string::npos);
    EXPECT_EQ(service.seen().size(), 1u);
}

}  // namespace
}  // namespace holdfast::couchbase_service_requests_test
