// Exchanges of HTTP in every world: with a server that answers, and with one that does not.
#include "core/pool/errc.hpp"
#include "shell/http/errc.hpp"
#include "shell/http/http_pool.hpp"
#include "shell/http/request.hpp"
#include "support/scripted_http.hpp"
#include "world/world_fixture.hpp"

#include <chrono>
#include <string>

namespace holdfast::http_exchange_test {
namespace {

using namespace std::chrono_literals;
using proof::http_answer;
using proof::http_chunked_text;
using proof::http_ok;
using proof::http_reply_text;
using proof::http_seen;
using proof::scripted_http;
using runtime::awaitable;
using shell::http::failure_kind;
using shell::http::http_pool;

/// What came of an exchange.
struct fetched {
    int status = 0;
    std::string body = {};
    std::optional<shell::http::exchange_failure> failed = {};
};

struct wish {
    std::string method = "GET";
    std::string target = "/";
    std::string body = {};
    duration timeout = proof::long_enough;
    bool idempotent = true;
};

std::string as_text(shell::http::body_piece piece)
{
    return {reinterpret_cast<const char*>(piece.data()), piece.size()};
}

awaitable<fetched> fetch(runtime::world& in, http_pool& from, wish what)
{
    fetched made;
    shell::http::request request;
    request.method = what.method;
    request.target = what.target;
    request.host = "server:80";
    request.body = what.body;
    bson::byte_buffer bytes;
    EXPECT_TRUE(shell::http::write_request(request, bytes));
    shell::http::exchange_order order;
    order.request = bytes.bytes();
    order.until = in.steady_now() + what.timeout;
    order.idempotent = what.idempotent;
    auto begun = co_await from.exchange(order);
    if (auto* const failed = std::get_if<shell::http::exchange_failure>(&begun)) {
        made.failed = std::move(*failed);
        co_return made;
    }
    auto& on = std::get<shell::lease<shell::http::connection>>(begun);
    made.status = on->head().status;
    for (;;) {
        auto step = co_await on->next_piece();
        if (auto* const failed = std::get_if<shell::http::exchange_failure>(&step)) {
            made.failed = std::move(*failed);
            break;
        }
        const auto piece = std::get<shell::http::body_piece>(step);
        if (piece.empty())
            break;
        made.body += as_text(piece);
    }
    co_return made;
}

class http_exchange : public proof::contract {
protected:
    using client_part = std::function<awaitable<void>(runtime::world&, http_pool&)>;

    void run_http(scripted_http& server, const client_part& client,
                  shell::http::http_pool_settings settings = {})
    {
        settings.idle_timeout = 20s;
        run([&](runtime::world& in,
                runtime::listener& door) -> awaitable<void> { co_await server.serve(in, door); },
            [&](runtime::world& in, runtime::destination where) -> awaitable<void> {
                const auto pool = http_pool::make(in, settings, [&in, where] {
                    return in.connect(where, in.steady_now() + proof::long_enough);
                });
                auto part = client(in, *pool);
                co_await std::move(part);
                pool->close(true);
                co_await pool->ended();
                server.stop();
            });
    }
};

TEST_P(http_exchange, connection_is_kept_for_the_next_request_if_its_reply_allows_it)
{
    scripted_http server{[](const http_seen& what) -> http_answer {
        if (what.target == "/chunks")
            return {.bytes = http_chunked_text("in chunks", 2)};
        if (what.target == "/close")
            return {.bytes = http_reply_text("last", 200, "Connection: close\r\n")};
        if (what.target == "/end")
            return {.bytes = "HTTP/1.1 200 OK\r\n\r\nto the end", .closes = true};
        return http_ok(what.method + " " + what.body, 201);
    }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        wish post;
        post.method = "POST";
        post.body = "hello";
        auto got = co_await fetch(in, pool, post);
        EXPECT_EQ(got.status, 201);
        EXPECT_EQ(got.body, "POST hello");
        wish other;
        other.target = "/chunks";
        got = co_await fetch(in, pool, other);
        EXPECT_EQ(got.body, "in chunks");
        EXPECT_EQ(server.connections(), 1u);
        other.target = "/close";
        got = co_await fetch(in, pool, other);
        EXPECT_EQ(got.body, "last");
        EXPECT_EQ(server.connections(), 1u);
        other.target = "/end";
        got = co_await fetch(in, pool, other);
        EXPECT_EQ(got.body, "to the end");
        EXPECT_EQ(server.connections(), 2u);
        got = co_await fetch(in, pool, post);
        EXPECT_EQ(got.body, "POST hello");
        EXPECT_EQ(server.connections(), 3u);
    });
}

TEST_P(http_exchange, request_on_a_connection_that_breaks_is_repeated_on_a_fresh_one_if_it_may_be)
{
    for (const bool idempotent : {true, false}) {
        std::size_t before = 0;
        scripted_http server{[&](const http_seen& what) -> http_answer {
            const bool is_first = what.connection != std::exchange(before, what.connection);
            return is_first ? http_ok("fresh") : proof::http_hang_up();
        }};
        run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
            wish what;
            what.idempotent = idempotent;
            auto got = co_await fetch(in, pool, what);
            EXPECT_EQ(got.body, "fresh");
            got = co_await fetch(in, pool, what);
            EXPECT_EQ(server.seen().size(), idempotent ? 3u : 2u);
            if (idempotent) {
                EXPECT_EQ(got.body, "fresh");
                co_return;
            }
            REQUIRE(got.failed.has_value());
            EXPECT_EQ(got.failed->is, failure_kind::lost);
            EXPECT_TRUE(got.failed->in_flight);
            EXPECT_FALSE(got.failed->replied);
        });
    }
}

TEST_P(http_exchange, request_on_a_fresh_connection_that_breaks_is_not_repeated)
{
    scripted_http server{[](const http_seen&) { return proof::http_hang_up(); }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        const wish what;
        const auto got = co_await fetch(in, pool, what);
        REQUIRE(got.failed.has_value());
        EXPECT_EQ(got.failed->is, failure_kind::lost);
        EXPECT_TRUE(got.failed->in_flight);
        EXPECT_EQ(server.seen().size(), 1u);
    });
}

TEST_P(http_exchange, reply_that_is_cut_at_any_byte_is_an_error_and_never_a_shorter_reply)
{
    const std::string texts[] = {http_reply_text("0123456789"), http_chunked_text("0123456789", 4)};
    for (const std::string& text : texts) {
        std::size_t size = 0;
        scripted_http server{[&](const http_seen&) -> http_answer {
            return {.bytes = text.substr(0, size), .closes = true};
        }};
        run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
            const wish what;
            for (; size != text.size(); ++size) {
                const auto got = co_await fetch(in, pool, what);
                REQUIRE(got.failed.has_value());
                EXPECT_EQ(got.failed->is, failure_kind::lost) << size;
                EXPECT_EQ(got.failed->replied, size != 0) << size;
                EXPECT_TRUE(got.failed->in_flight);
            }
            const auto whole = co_await fetch(in, pool, what);
            EXPECT_FALSE(whole.failed);
            EXPECT_EQ(whole.body, "0123456789");
            EXPECT_EQ(server.seen().size(), text.size() + 1) << "none was repeated";
        });
    }
}

TEST_P(http_exchange, reply_that_arrives_byte_by_byte_is_the_same_reply)
{
    const std::string body = proof::pattern(2000, 7);
    scripted_http server{[&](const http_seen& what) -> http_answer {
        const std::string text = what.target == "/chunks" ? http_chunked_text(body, 3)
                                                          : http_reply_text(body);
        return {.bytes = text, .piece = 1};
    }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        for (const char* const target : {"/length", "/chunks"}) {
            wish what;
            what.target = target;
            const auto got = co_await fetch(in, pool, what);
            EXPECT_EQ(got.body, body) << target;
        }
        EXPECT_EQ(server.connections(), 1u);
    });
}

TEST_P(http_exchange, hostile_reply_ends_the_exchange_and_its_connection)
{
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string replies[] = {
        "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'),
        "220 smtp.example.com ESMTP\r\n",
        chunked + "fffffffffffffffff\r\n",
        chunked + "-1\r\nx\r\n",
        chunked + "1;" + std::string(100'000, 'x'),
    };
    std::size_t turn = 0;
    scripted_http server{[&](const http_seen&) -> http_answer { return {.bytes = replies[turn]}; }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        const wish what;
        for (; turn != std::size(replies); ++turn) {
            const auto got = co_await fetch(in, pool, what);
            REQUIRE(got.failed.has_value());
            EXPECT_EQ(got.failed->is, failure_kind::refused) << turn;
            EXPECT_EQ(server.connections(), turn + 1);
        }
    });
}

TEST_P(http_exchange, request_without_an_answer_ends_with_its_deadline)
{
    scripted_http server{[](const http_seen& what) -> http_answer {
        if (what.target == "/silent")
            return {};
        return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"};
    }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        for (const char* const target : {"/silent", "/half"}) {
            wish what;
            what.target = target;
            what.timeout = 60ms;
            const time_point began = in.steady_now();
            const auto got = co_await fetch(in, pool, what);
            REQUIRE(got.failed.has_value());
            EXPECT_EQ(got.failed->is, failure_kind::timed_out) << target;
            EXPECT_TRUE(got.failed->in_flight);
            EXPECT_EQ(got.failed->replied, got.status != 0);
            EXPECT_GE(in.steady_now() - began, 60ms);
        }
        EXPECT_EQ(server.connections(), 2u) << "neither was used again";
        EXPECT_EQ(pool.counts().total, 0u);
    });
}

TEST_P(http_exchange, body_that_is_not_wanted_to_its_end_costs_its_connection)
{
    const std::string body = proof::pattern(3'000'000, 1);
    scripted_http server{[&](const http_seen& what) -> http_answer {
        return http_ok(what.target == "/long" ? body : "short");
    }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        bson::byte_buffer bytes;
        shell::http::request request;
        request.target = "/long";
        request.host = "server";
        REQUIRE(shell::http::write_request(request, bytes).has_value());
        shell::http::exchange_order order;
        order.request = bytes.bytes();
        order.until = in.steady_now() + proof::long_enough;
        {
            auto begun = co_await pool.exchange(order);
            REQUIRE(begun.index() == 0);
            auto& on = std::get<shell::lease<shell::http::connection>>(begun);
            const auto step = co_await on->next_piece();
            const auto piece = std::get<shell::http::body_piece>(step);
            EXPECT_EQ(body.substr(0, piece.size()), as_text(piece));
            EXPECT_LE(piece.size(), 64u * 1024);
        }
        EXPECT_EQ(pool.counts().total, 0u);
        const wish what;
        const auto got = co_await fetch(in, pool, what);
        EXPECT_EQ(got.body, "short");
        EXPECT_EQ(server.connections(), 2u);
    });
}

TEST_P(http_exchange, request_of_any_size_gets_there)
{
    const std::string body = proof::pattern(5'000'000, 3);
    scripted_http server{[&](const http_seen& what) -> http_answer {
        return http_ok(what.body == body ? "equal" : "different");
    }};
    run_http(server, [&](runtime::world& in, http_pool& pool) -> awaitable<void> {
        wish what;
        what.method = "PUT";
        what.body = body;
        const auto got = co_await fetch(in, pool, what);
        EXPECT_EQ(got.body, "equal");
    });
}

HOLDFAST_ALL_WORLDS(http_exchange);

}  // namespace
}  // namespace holdfast::http_exchange_test
