// Rows of a reply that arrives in pieces: when they begin, and what a reply must be for that.
#include "client/couchbase/retry_support.hpp"
#include "client/couchbase/row_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_row_stream_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::retry_reason;
using proof::http_answer;
using proof::http_chunked_text;
using proof::http_ok;
using proof::http_seen;
using proof::labels_of;
using proof::reply_with;
using proof::row_scene;
using proof::scripted_operation;
using proof::service_wish;

/// Takes errors in the metadata for a failure; `reason` is that of code 5000.
std::shared_ptr<scripted_operation> query_like()
{
    auto made = std::make_shared<scripted_operation>();
    made->meaning = [](const proof::service_reply_view& reply) {
        std::optional<proof::classification> meant;
        if (reply.body.find("\"errors\"") == std::string_view::npos)
            return meant;
        meant.emplace();
        meant->code = errc::internal_server_failure;
        meant->message = "the query failed";
        if (reply.body.find("5000") != std::string_view::npos)
            meant->reason = retry_reason::query_index_not_found;
        return meant;
    };
    return made;
}

TEST(couchbase_row_stream, rows_and_metadata_are_the_same_however_the_reply_is_cut)
{
    const std::string text = reply_with(50);
    for (const std::size_t chunk : {0, 1, 7, 64, 5000}) {
        row_scene scene;
        auto& service = scene.serve(0, [&](const http_seen&) -> http_answer {
            if (chunk == 0)
                return http_ok(text);
            return {.bytes = http_chunked_text(text, chunk), .piece = 11};
        });
        scene.connect();
        for (int n = 0; n != 2; ++n) {
            const auto stream = scene.rows();
            const auto got = scene.read(stream);
            EXPECT_FALSE(got->why) << got->why->explain();
            ASSERT_EQ(got->rows.size(), 50u) << "chunks of " << chunk;
            EXPECT_EQ(got->rows.back(), "{\"n\":49}");
            EXPECT_EQ(stream->rows(), 50u);
            EXPECT_EQ(got->metadata, R"({"requestID":"r","results":[],"status":"success"})");
        }
        EXPECT_EQ(service.connections(), 1u) << "it was given back after the last row";
    }
}

TEST(couchbase_row_stream, nothing_is_sent_before_the_first_row_is_asked_for)
{
    row_scene scene;
    auto& service = scene.serve(0, [](const http_seen&) { return http_ok(reply_with(0)); });
    scene.connect();
    const auto stream = scene.rows();
    scene.simulation.run_for(1s);
    EXPECT_TRUE(service.seen().empty());
    EXPECT_FALSE(stream->take());
    const auto got = scene.read(stream);
    EXPECT_FALSE(got->why);
    EXPECT_TRUE(got->rows.empty());
    EXPECT_EQ(service.seen().size(), 1u);
    EXPECT_EQ(stream->server().value(), "n0:8093");
    const auto again = scene.read(stream);
    EXPECT_TRUE(again->done && !again->why && again->rows.empty()) << "an end is an end";
}

TEST(couchbase_row_stream, failure_that_is_reported_behind_an_empty_list_of_rows_is_retried)
{
    VERIFIES_BY_TRAFFIC("CR-087");
    row_scene scene{{.nodes = 2}};
    std::size_t requests = 0;
    for (const std::size_t node : {0, 1})
        scene.serve(node, [&](const http_seen&) {
            return ++requests < 3 ? http_ok(reply_with(0, R"("errors":[{"code":5000}])"))
                                  : http_ok(reply_with(3));
        });
    scene.connect();
    service_wish wish;
    wish.idempotent = false;
    wish.operation = query_like();
    const auto got = scene.read(wish);
    EXPECT_FALSE(got->why) << got->why->explain();
    EXPECT_EQ(got->rows.size(), 3u);
    EXPECT_EQ(requests, 3u);
}

TEST(couchbase_row_stream, failure_behind_rows_ends_them_with_an_error_and_their_number)
{
    row_scene scene;
    for (const char* const errors :
         {R"("errors":[{"code":5000}])", R"("errors":[{"code":12009}])"}) {
        auto& service = scene.serve(
            0, [&](const http_seen&) { return http_ok(reply_with(17, errors)); });
        scene.connect();
        service_wish wish;
        wish.operation = query_like();
        const auto got = scene.read(wish);
        EXPECT_EQ(got->rows.size(), 17u);
        ASSERT_TRUE(got->why);
        EXPECT_EQ(got->why->code(), errc::internal_server_failure);
        EXPECT_EQ(got->why->context("rows"), "17");
        EXPECT_EQ(got->why->history().size(), 1u);
        EXPECT_EQ(service.seen().size(), 1u);
        service.stop();
        scene.simulation.run_for(1s);
    }
}

TEST(couchbase_row_stream, reply_that_is_cut_is_repeated_only_if_there_was_no_row_yet)
{
    const std::string whole = proof::http_reply_text(reply_with(4));
    const std::size_t first_row = whole.find("{\"n\":0}") + 7;
    for (std::size_t size = 0; size < whole.size(); size += 3) {
        for (const bool idempotent : {true, false}) {
            SCOPED_TRACE(std::to_string(size) + (idempotent ? " bytes" : " bytes, not idempotent"));
            row_scene scene;
            std::size_t requests = 0;
            scene.serve(0, [&](const http_seen&) -> http_answer {
                if (++requests == 1)
                    return {.bytes = whole.substr(0, size), .closes = true};
                return {.bytes = whole};
            });
            scene.connect();
            service_wish wish;
            wish.idempotent = idempotent;
            const auto got = scene.read(wish);
            if (idempotent && size < first_row) {
                EXPECT_FALSE(got->why) << got->why->explain();
                EXPECT_EQ(got->rows.size(), 4u);
                EXPECT_EQ(requests, 2u);
                continue;
            }
            EXPECT_EQ(requests, 1u);
            ASSERT_TRUE(got->why);
            EXPECT_EQ(got->why->code(), errc::request_canceled);
            EXPECT_EQ(got->why->context("rows"), std::to_string(got->rows.size()));
            EXPECT_EQ(got->why->context("may_have_been_applied"), idempotent ? "false" : "true");
            EXPECT_EQ(labels_of(*got->why).back(), "SOCKET_CLOSED_WHILE_IN_FLIGHT");
            if (size >= first_row) {
                EXPECT_GE(got->rows.size(), 1u);
                EXPECT_NE(got->why->history()[0].decision.find("were handed out already"),
                          std::string::npos);
            }
        }
    }
}

TEST(couchbase_row_stream, reply_with_another_status_or_without_json_is_no_stream)
{
    row_scene scene;
    std::string body;
    int status = 200;
    auto& service = scene.serve(0, [&](const http_seen&) { return http_ok(body, status); });
    scene.connect();
    service_wish wish;
    wish.operation = std::make_shared<scripted_operation>();
    std::string classified;
    wish.operation->meaning = [&](const proof::service_reply_view& reply) {
        classified = reply.body;
        std::optional<proof::classification> meant;
        if (reply.status == 200)
            return meant;
        meant.emplace();
        meant->code = errc::authentication_failure;
        meant->message = "refused";
        return meant;
    };
    body = "<html>" + std::string(3'000'000, 'x');
    status = 401;
    auto got = scene.read(wish);
    ASSERT_TRUE(got->why);
    EXPECT_EQ(got->why->code(), errc::authentication_failure);
    EXPECT_EQ(got->why->context("http_status"), "401");
    EXPECT_EQ(classified.size(), std::size_t{1} << 20) << "the rest is not read";
    EXPECT_EQ(service.seen().size(), 1u);

    status = 200;
    for (const char* const garbage : {"<html>", R"({"results":[1,}})", R"({"results":[1,2)", ""}) {
        body = garbage;
        got = scene.read(wish);
        ASSERT_TRUE(got->why) << garbage;
        EXPECT_EQ(got->why->code(), errc::decoding_failure) << garbage;
        EXPECT_EQ(got->why->context("server"), "n0:8093");
    }
}

}  // namespace
}  // namespace holdfast::couchbase_row_stream_test
