// What ends the rows of a reply before its own end, and what is left then.
#include "client/couchbase/row_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_row_stream_end_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using proof::all_rows;
using proof::http_answer;
using proof::http_ok;
using proof::http_seen;
using proof::read_all;
using proof::reply_with;
using proof::row_scene;
using proof::service_wish;

TEST(couchbase_row_stream_end, deadline_holds_up_to_the_last_row)
{
    row_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) -> http_answer {
        return {.bytes = proof::http_reply_text(reply_with(100)), .piece = 10, .pause = 10ms};
    });
    scene.connect();
    scene.warm_up();
    for (const bool idempotent : {true, false}) {
        service_wish wish;
        wish.timeout = 500ms;
        wish.idempotent = idempotent;
        const time_point began = scene.simulation.now();
        const auto got = scene.read(wish);
        ASSERT_TRUE(got->why);
        EXPECT_EQ(got->why->code(),
                  idempotent ? errc::unambiguous_timeout : errc::ambiguous_timeout);
        EXPECT_EQ(got->ended - began, 500ms);
        EXPECT_GT(got->rows.size(), 20u);
        EXPECT_EQ(got->why->context("rows"), std::to_string(got->rows.size()));
    }
    scene.simulation.run_for(100ms);
    EXPECT_EQ(service.open_connections(), 0u);
}

TEST(couchbase_row_stream_end, abandoned_or_destroyed_stream_closes_its_connection)
{
    row_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) -> http_answer {
        return {.bytes = proof::http_reply_text(reply_with(1000)), .piece = 100, .pause = 10ms};
    });
    scene.connect();
    for (const bool destroy : {true, false}) {
        auto stream = scene.rows();
        bool ready = false;
        const auto begin = [&]() -> runtime::awaitable<void> {
            const auto more = co_await stream->fetch();
            EXPECT_TRUE(more && *more);
            ready = true;
        };
        scene.app.start(begin());
        ASSERT_TRUE(scene.finish([&] { return ready; }));
        EXPECT_EQ(*stream->take(), "{\"n\":0}");
        EXPECT_EQ(service.open_connections(), 1u);
        if (destroy)
            stream.reset();
        else
            stream->abandon();
        scene.simulation.run_for(100ms);
        EXPECT_EQ(service.open_connections(), 0u);
        if (!stream)
            continue;
        EXPECT_FALSE(stream->take());
        const auto rest = scene.read(stream);
        EXPECT_FALSE(rest->why);
        EXPECT_TRUE(rest->rows.empty());
        EXPECT_EQ(stream->rows(), 1u);
    }
}

TEST(couchbase_row_stream_end, cancellation_between_two_rows_ends_the_stream)
{
    row_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) -> http_answer {
        return {.bytes = proof::http_reply_text(reply_with(1000)), .piece = 100, .pause = 50ms};
    });
    scene.connect();
    service_wish wish;
    wish.idempotent = false;
    const auto stream = scene.rows(wish);
    auto got = std::make_shared<all_rows>();
    boost::asio::cancellation_signal stop;
    boost::asio::co_spawn(scene.app.world().executor(), read_all(stream, got, scene.simulation),
                          boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::detached));
    scene.simulation.run_for(320ms);
    EXPECT_FALSE(got->done);
    EXPECT_GT(got->rows.size(), 20u);
    stop.emit(boost::asio::cancellation_type::terminal);
    scene.simulation.run_for(1ms);
    ASSERT_TRUE(got->done);
    ASSERT_TRUE(got->why);
    EXPECT_EQ(got->why->code(), errc::request_canceled);
    EXPECT_EQ(got->why->context("may_have_been_applied"), "true");
    scene.simulation.run_for(100ms);
    EXPECT_EQ(service.open_connections(), 0u);
}

TEST(couchbase_row_stream_end, cancellation_at_any_moment_ends_it_once_and_leaves_nothing_behind)
{
    for (int ms = 0; ms < 60; ++ms) {
        SCOPED_TRACE("after " + std::to_string(ms) + " ms");
        row_scene scene{{.nodes = 2}};
        std::vector<proof::scripted_http*> services;
        for (const std::size_t node : {0, 1}) {
            services.push_back(&scene.serve(node, [&](const http_seen& what) -> http_answer {
                if (what.connection == 1)
                    return {.delay = 7ms, .closes = true};
                return {.bytes = proof::http_reply_text(reply_with(30)), .piece = 40, .pause = 2ms};
            }));
        }
        scene.connect();
        service_wish wish;
        wish.idempotent = ms % 2 == 0;
        const auto stream = scene.rows(wish);
        auto got = std::make_shared<all_rows>();
        boost::asio::cancellation_signal stop;
        boost::asio::co_spawn(
            scene.app.world().executor(), read_all(stream, got, scene.simulation),
            boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::detached));
        scene.simulation.run_for(std::chrono::milliseconds{ms});
        const bool was_done = got->done;
        stop.emit(boost::asio::cancellation_type::terminal);
        scene.simulation.run_for(1ms);
        ASSERT_TRUE(got->done);
        if (!was_done) {
            ASSERT_TRUE(got->why);
            EXPECT_EQ(got->why->code(), errc::request_canceled) << got->why->explain();
        }
        EXPECT_FALSE(stream->take());
        // Nothing is in the way of the next request.
        for (auto* const one : services)
            one->on([](const http_seen&) { return http_ok(reply_with(2)); });
        EXPECT_EQ(scene.read()->rows.size(), 2u);
        scene.app.start(scene.client->close());
        scene.simulation.run_for(3s);
        for (auto* const one : services)
            EXPECT_EQ(one->open_connections(), 0u);
    }
}

TEST(couchbase_row_stream_end, cluster_that_is_closed_ends_the_rows)
{
    row_scene scene;
    scene.serve(0, [](const http_seen&) -> http_answer {
        return {.bytes = proof::http_reply_text(reply_with(1000)), .piece = 100, .pause = 50ms};
    });
    scene.connect();
    const auto stream = scene.rows();
    auto got = std::make_shared<all_rows>();
    scene.app.start(read_all(stream, got, scene.simulation));
    scene.simulation.run_for(320ms);
    EXPECT_FALSE(got->done);
    scene.app.start(scene.client->close());
    ASSERT_TRUE(scene.finish([&] { return got->done; }));
    ASSERT_TRUE(got->why);
    EXPECT_EQ(got->why->code(), errc::closed) << got->why->explain();
}

TEST(couchbase_row_stream_end, rows_are_read_no_faster_than_they_are_taken)
{
    row_scene scene;
    const std::string row = "{\"text\":\"" + std::string(1000, 'x') + "\"}";
    std::string text = R"({"results":[)" + row;
    for (int n = 1; n != 20'000; ++n)
        text += "," + row;
    text += "]}";
    auto& service = scene.serve(0, [&](const http_seen&) { return http_ok(text); });
    scene.connect();
    service_wish wish;
    wish.timeout = 60s;
    const auto stream = scene.rows(wish);
    bool done = false;
    const auto take_some = [&]() -> runtime::awaitable<void> {
        for (int n = 0; n != 200; ++n) {
            const auto more = co_await stream->fetch();
            EXPECT_TRUE(more && *more);
            EXPECT_EQ(stream->take()->size(), row.size());
        }
        done = true;
    };
    scene.app.start(take_some());
    scene.simulation.run_for(5s);
    EXPECT_TRUE(done);
    const std::size_t sent = service.sent();
    EXPECT_LT(sent, text.size() / 2) << "the rest waits in the windows of the network";
    const auto rest = scene.read(stream);
    EXPECT_FALSE(rest->why);
    EXPECT_EQ(stream->rows(), 20'000u);
}

}  // namespace
}  // namespace holdfast::couchbase_row_stream_end_test
