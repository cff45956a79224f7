// Requests to HTTP services over sockets: of a client that is awaited, and of one that blocks.
#include "api/common/default_runtime.hpp"
#include "api/couchbase/access.hpp"
#include "api/couchbase/cluster_impl.hpp"
#include "client/couchbase/scripted_operation.hpp"
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "net/world.hpp"
#include "shell/couchbase/execute/execute_http.hpp"
#include "shell/couchbase/execute/row_stream.hpp"
#include "support/scripted_http.hpp"
#include "support/verifies.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace holdfast::couchbase_socket_services_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using proof::http_answer;
using proof::http_ok;
using proof::http_seen;
using proof::service_wish;
using runtime::awaitable;
using shell::couchbase::row_stream;
using shell::couchbase::whole_reply;

/// A scripted service on loopback, with a thread of its own.
class service_thread {
public:
    explicit service_thread(proof::scripted_http::script what) : server{std::move(what)}
    {
        boost::asio::co_spawn(loop_, server.serve(world_, *door_), boost::asio::detached);
        thread_ = std::thread{[this] { loop_.run(); }};
    }
    service_thread(const service_thread&) = delete;
    service_thread& operator=(const service_thread&) = delete;
    ~service_thread()
    {
        server.stop();
        thread_.join();
    }
    std::uint16_t port() const { return door_->port(); }

    proof::scripted_http server;

private:
    boost::asio::io_context loop_{1};
    net::async_world world_{loop_.get_executor()};
    runtime::listener_ptr door_ = world_.listen({"127.0.0.1", 0}).value();
    std::thread thread_;
};

std::string reply_with(std::size_t rows)
{
    std::string text = R"({"results":[)";
    for (std::size_t n = 0; n != rows; ++n)
        text += (n == 0 ? "" : ",") + std::string{"{\"n\":"} + std::to_string(n) + "}";
    return text + "]}";
}

http_answer serve(const http_seen& what)
{
    if (what.target == "/rows")
        return {.bytes = proof::http_chunked_text(reply_with(10'000), 1000), .piece = 7000};
    if (what.target == "/silent")
        return {};
    if (what.target == "/cut")
        return {.bytes = proof::http_reply_text(reply_with(10'000)).substr(0, 50'000),
                .closes = true};
    return http_ok("\"" + what.target + "\"");
}

/// How many rows there were, and the error at their end.
struct counted {
    std::size_t rows = 0;
    std::optional<error> why = {};
};

awaitable<result<counted>> count_rows(std::shared_ptr<shell::couchbase::cluster_state> in,
                                      service_wish wish)
{
    row_stream stream{in, service_call_of(wish, in->world.steady_now()), "results"};
    counted made;
    for (;;) {
        while (stream.take())
            ++made.rows;
        auto more = co_await stream.fetch();
        if (!more)
            made.why = std::move(more).error();
        if (made.why || !*more)
            break;
    }
    co_return made;
}

service_wish wish_for(const std::string& path, bool idempotent = true)
{
    service_wish made;
    made.idempotent = idempotent;
    made.operation = std::make_shared<proof::scripted_operation>();
    made.operation->build = [path](const proof::attempt_view&) {
        proof::service_request request;
        request.path = path;
        return request;
    };
    return made;
}

class couchbase_socket_services : public ::testing::Test {
protected:
    couchbase_socket_services()
    {
        scene.command("service 0 n1ql " + std::to_string(service.port()));
        scene.connect();
    }

    std::shared_ptr<shell::couchbase::cluster_state> state() const
    {
        return couchbase::access::impl_of(*scene.client)->state;
    }
    proof::kv_run<whole_reply> request(const service_wish& wish)
    {
        return scene.run(shell::couchbase::execute_http(
            state(), service_call_of(wish, std::chrono::steady_clock::now())));
    }

    service_thread service{serve};
    proof::socket_scene scene;
};

TEST_F(couchbase_socket_services, requests_share_a_connection_and_rows_come_through_it)
{
    for (int n = 0; n != 20; ++n) {
        const auto done = request(wish_for("/" + std::to_string(n)));
        ASSERT_TRUE(done->good()) << done->explain();
        EXPECT_EQ((*done->outcome)->body, "\"/" + std::to_string(n) + "\"");
    }
    const auto rows = scene.run(count_rows(state(), wish_for("/rows")));
    ASSERT_TRUE(rows->good());
    EXPECT_FALSE((*rows->outcome)->why) << (*rows->outcome)->why->explain();
    EXPECT_EQ((*rows->outcome)->rows, 10'000u);
    EXPECT_EQ(service.server.connections(), 1u);
}

TEST_F(couchbase_socket_services, request_ends_with_its_deadline)
{
    for (const bool idempotent : {true, false}) {
        service_wish wish = wish_for("/silent", idempotent);
        wish.timeout = 100ms;
        const auto took = proof::best_of(5, 120ms, [&] {
            const auto late = request(wish);
            EXPECT_EQ(late->code(),
                      idempotent ? errc::unambiguous_timeout : errc::ambiguous_timeout);
            EXPECT_GE(late->took(), 100ms);
            return late->took();
        });
        EXPECT_LE(took, 120ms);
    }
}

TEST_F(couchbase_socket_services, reply_that_is_cut_behind_rows_is_an_error_with_their_number)
{
    const auto cut = scene.run(count_rows(state(), wish_for("/cut", false)));
    ASSERT_TRUE(cut->good());
    const counted& got = **cut->outcome;
    ASSERT_TRUE(got.why);
    EXPECT_EQ(got.why->code(), errc::request_canceled) << got.why->explain();
    EXPECT_GT(got.rows, 3000u);
    EXPECT_EQ(got.why->context("rows"), std::to_string(got.rows));
    EXPECT_EQ(got.why->context("may_have_been_applied"), "true");
    EXPECT_EQ(service.server.seen().size(), 1u);
}

TEST_F(couchbase_socket_services, service_that_refuses_connections_leaves_the_request_unsent)
{
    scene.command("service 0 n1ql 1");
    service_wish wish = wish_for("/", false);
    wish.timeout = 200ms;
    const auto late = request(wish);
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(proof::reasons_of(late->error()).front(), "SOCKET_NOT_AVAILABLE");
    scene.command("service 0 n1ql " + std::to_string(service.port()));
    wish.timeout = 10s;
    EXPECT_TRUE(request(wish)->good());
}

TEST_F(couchbase_socket_services, client_that_blocks_makes_the_same_requests)
{
    const auto runtime = api::blocking_runtime::start();
    couchbase::cluster_options options;
    options.authenticator = proof::socket_scene::login();
    const auto world = [&](const core::couchbase::cluster_settings&) { return runtime->world(); };
    auto impl = couchbase::cluster_impl::make(world, scene.lab.uri(), options, {},
                                              api::blocking_runtime::make_blocking)
                    .value();
    std::atomic<int> good{0};
    const auto work = [&]() -> awaitable<void> {
        for (int n = 0; n != 10; ++n) {
            const service_wish plain = wish_for("/x");
            auto reply = co_await shell::couchbase::execute_http(
                impl->state, service_call_of(plain, runtime->world()->steady_now()));
            good += reply && reply->body == "\"/x\"" ? 1 : 0;
            const service_wish rows = wish_for("/rows");
            auto got = co_await count_rows(impl->state, rows);
            good += got && got->rows == 10'000 && !got->why ? 1 : 0;
        }
        service_wish silent = wish_for("/silent", false);
        silent.timeout = 50ms;
        auto late = co_await shell::couchbase::execute_http(
            impl->state, service_call_of(silent, runtime->world()->steady_now()));
        good += !late && late.error().code() == errc::ambiguous_timeout ? 1 : 0;
    };
    std::vector<std::thread> threads;
    for (int n = 0; n != 4; ++n)
        threads.emplace_back([&] { runtime->run(work()); });
    for (std::thread& one : threads)
        one.join();
    EXPECT_EQ(good, 4 * 21);
    // A connection for each thread, and another after each that was silent.
    EXPECT_LE(service.server.connections(), 8u);
    const auto close = [&]() -> awaitable<void> { co_await couchbase::cluster_impl::close(impl); };
    runtime->run(close());
}

}  // namespace
}  // namespace holdfast::couchbase_socket_services_test
