#include "lab/couchbase/http/http_conversation.hpp"

#include "lab/couchbase/http/reply_text.hpp"
#include "lab/couchbase/serve/kv_link.hpp"
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::couchbase::http_conversation_test {
namespace {

using namespace std::chrono_literals;

/// Answers each request with its path.
class echo final : public http_service {
public:
    explicit echo(runtime::world& in) : changed{in} {}

    http_reply answer(const http_request& what) override
    {
        ++answered;
        http_reply made;
        made.body = what.path;
        made.chunk_size = own_chunks;
        made.pause = pause;
        if (what.path == "/late")
            made.later = [this]() { return std::exchange(late, std::nullopt); };
        made.cut = [this] { return cuts; };
        if (what.path == "/stream")
            made.more = [this]() -> std::optional<std::string> {
                return std::exchange(next_part, std::string{});
            };
        return made;
    }
    std::optional<http_fault> fault_for(const http_request&) override { return fault; }
    runtime::event& news() override { return changed; }
    bool frozen() const override { return is_frozen; }
    std::size_t chunk_size() const override { return chunks; }

    runtime::event changed;
    std::optional<http_fault> fault;
    std::optional<std::string> next_part = "first";
    std::optional<http_reply> late;
    std::chrono::milliseconds pause{0};
    bool is_frozen = false;
    bool cuts = false;
    std::size_t chunks = 0;
    std::size_t own_chunks = 0;
    int answered = 0;
};

class lab_couchbase_http : public testing::Test {
protected:
    need send(std::string_view text)
    {
        const auto free = talk.unread();
        EXPECT_GE(free.size(), text.size());
        std::copy(text.begin(), text.end(), free.begin());
        talk.received(text.size());
        return talk.advance(to);
    }
    std::string written()
    {
        const std::string text{to.written.begin(), to.written.end()};
        to.written.clear();
        return text;
    }
    static std::string get(const std::string& path)
    {
        return "GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n";
    }
    /// Status and body of what was written.
    std::string outcome()
    {
        const std::string text = written();
        const std::size_t end = text.find("\r\n\r\n");
        return text.size() < 12 || end == text.npos
                   ? text
                   : text.substr(9, 3) + " " + text.substr(end + 4);
    }

    sim::simulation net{1};
    sim::host& there = net.add_host("server");
    echo service{there.world()};
    kept_stream to;
    http_conversation talk{there.world(), service};
};

TEST_F(lab_couchbase_http, connection_is_kept_for_the_next_request_or_closed_if_asked)
{
    EXPECT_EQ(send(get("/a")), need::bytes);
    EXPECT_EQ(outcome(), "200 /a");
    EXPECT_EQ(send(get("/b") + get("/c")), need::bytes);
    EXPECT_EQ(service.answered, 3);
    (void)written();
    EXPECT_EQ(send("GET /d HTTP/1.1\r\nConnection: close\r\n\r\n"), need::nothing);
    EXPECT_NE(written().find("Connection: close"), std::string::npos);
}

TEST_F(lab_couchbase_http, bad_request_is_answered_and_ends_the_connection)
{
    EXPECT_EQ(send("nonsense\r\n\r\n"), need::nothing);
    EXPECT_EQ(outcome().substr(0, 3), "400");
    EXPECT_EQ(service.answered, 0);
}

TEST_F(lab_couchbase_http, idle_connection_is_closed)
{
    (void)send(get("/a"));
    EXPECT_EQ(talk.read_until(), there.world().steady_now() + 120s);
    net.run_for(121s);
    EXPECT_EQ(talk.advance(to), need::nothing);
}

TEST_F(lab_couchbase_http, replies_are_cut_into_chunks)
{
    service.chunks = 2;
    (void)send(get("/abcd"));
    EXPECT_EQ(outcome(), "200 2\r\n/a\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n");
}

TEST_F(lab_couchbase_http, reply_goes_on_with_each_news_until_its_end)
{
    EXPECT_EQ(send(get("/stream")), need::news);
    EXPECT_EQ(outcome(), "200 7\r\n/stream\r\n5\r\nfirst\r\n");
    EXPECT_TRUE(talk.waits_long());
    EXPECT_EQ(talk.seen(), service.changed.count());
    service.next_part = "second";
    service.changed.notify();
    EXPECT_EQ(talk.advance(to), need::news);
    EXPECT_EQ(written(), "6\r\nsecond\r\n");
    service.next_part = std::nullopt;
    EXPECT_EQ(talk.advance(to), need::bytes);
    EXPECT_EQ(written(), "0\r\n\r\n");
    EXPECT_FALSE(talk.waits_long());
}

TEST_F(lab_couchbase_http, end_of_a_reply_that_goes_on_closes_the_connection_if_that_was_asked)
{
    service.next_part = std::nullopt;
    EXPECT_EQ(send("GET /stream HTTP/1.1\r\nConnection: close\r\n\r\n"), need::nothing);
    EXPECT_EQ(outcome(), "200 7\r\n/stream\r\n0\r\n\r\n");
}

TEST_F(lab_couchbase_http, reply_that_goes_on_can_be_cut_where_it_ends)
{
    service.cuts = true;
    service.next_part = std::nullopt;
    EXPECT_EQ(send(get("/stream")), need::nothing);
    EXPECT_EQ(outcome(), "200 7\r\n/stream\r\n");
}

TEST_F(lab_couchbase_http, chunks_of_a_reply_and_of_a_fault_come_before_those_of_the_service)
{
    service.chunks = 2;
    service.own_chunks = 3;
    (void)send(get("/abcd"));
    EXPECT_EQ(outcome(), "200 3\r\n/ab\r\n2\r\ncd\r\n0\r\n\r\n");
    service.fault.emplace();
    service.fault->chunk_size = 4;
    (void)send(get("/abcd"));
    EXPECT_EQ(outcome(), "200 4\r\n/abc\r\n1\r\nd\r\n0\r\n\r\n");
}

TEST_F(lab_couchbase_http, parts_of_a_reply_that_goes_on_are_cut_into_chunks_too)
{
    service.chunks = 4;
    EXPECT_EQ(send(get("/stream")), need::news);
    EXPECT_EQ(outcome(), "200 4\r\n/str\r\n3\r\neam\r\n4\r\nfirs\r\n1\r\nt\r\n");
}

TEST_F(lab_couchbase_http, reply_that_goes_on_is_asked_again_after_its_pause)
{
    service.pause = 5ms;
    EXPECT_EQ(send(get("/stream")), need::news);
    EXPECT_EQ(talk.wake_at(), there.world().steady_now() + 5ms);
    service.pause = 0ms;
    (void)send(get("/a"));  // waits for its turn
    EXPECT_EQ(service.answered, 1);
}

TEST_F(lab_couchbase_http, late_reply_is_asked_for_until_it_is_there)
{
    EXPECT_EQ(send(get("/late") + get("/a")), need::news);
    EXPECT_TRUE(talk.waits_long());
    EXPECT_EQ(talk.wake_at(), there.world().steady_now() + 10ms);
    EXPECT_EQ(talk.advance(to), need::news);
    EXPECT_EQ(written(), "");
    service.late.emplace();
    service.late->body = "done";
    EXPECT_EQ(talk.advance(to), need::bytes);
    const std::string text = written();
    EXPECT_LT(text.find("done"), text.find("/a"));
    EXPECT_EQ(talk.wake_at(), runtime::never);
    EXPECT_FALSE(talk.waits_long());
}

TEST_F(lab_couchbase_http, late_reply_is_cut_and_ends_the_connection_as_any_other)
{
    service.fault.emplace();
    service.fault->cut_reply_at = 10;
    EXPECT_EQ(send(get("/late")), need::news);
    service.late.emplace();
    EXPECT_EQ(talk.advance(to), need::nothing);
    EXPECT_EQ(written(), "HTTP/1.1 2");
}

TEST_F(lab_couchbase_http, reply_that_goes_on_is_cut_after_all_of_its_bytes)
{
    service.chunks = 2;
    (void)send(get("/a"));
    const std::string whole = written();
    const std::size_t head = whole.find("\r\n\r\n") + 4;
    service.chunks = 0;
    service.fault.emplace();
    service.fault->cut_reply_at = head + 12 + 4;  // "7\r\n/stream\r\n" and "5\r\nf"
    EXPECT_EQ(send(get("/stream")), need::nothing);
    EXPECT_EQ(outcome(), "200 7\r\n/stream\r\n5\r\nf");
}

TEST_F(lab_couchbase_http, frozen_service_answers_when_it_thaws)
{
    service.is_frozen = true;
    EXPECT_EQ(send(get("/a")), need::time);
    EXPECT_EQ(talk.wake_at(), runtime::never);
    service.is_frozen = false;
    EXPECT_EQ(talk.advance(to), need::bytes);
    EXPECT_EQ(outcome(), "200 /a");
}

TEST_F(lab_couchbase_http, faults_refuse_cut_close_and_delay)
{
    service.fault.emplace();
    service.fault->answer = [](const http_request&) { return refuse(503, "busy"); };
    (void)send(get("/a"));
    EXPECT_EQ(outcome(), R"(503 {"error":"busy"})");
    EXPECT_EQ(service.answered, 0);
    service.fault.emplace();
    service.fault->silent = true;
    EXPECT_EQ(send(get("/a")), need::bytes);
    EXPECT_EQ(written(), "");
    service.fault.emplace();
    service.fault->delay = 50ms;
    EXPECT_EQ(send(get("/a")), need::time);
    EXPECT_EQ(talk.wake_at(), there.world().steady_now() + 50ms);
    net.run_for(50ms);
    EXPECT_EQ(talk.advance(to), need::bytes);
    EXPECT_EQ(outcome(), "200 /a");
    service.fault.emplace();
    service.fault->cut_reply_at = 10;
    EXPECT_EQ(send(get("/a")), need::nothing);
    EXPECT_EQ(written(), "HTTP/1.1 2");
}

TEST_F(lab_couchbase_http, fault_closes_the_connection_before_the_request_is_carried_out)
{
    service.fault.emplace();
    service.fault->close_connection = true;
    EXPECT_EQ(send(get("/a")), need::nothing);
    EXPECT_EQ(service.answered, 0);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::http_conversation_test
