#include "api/mongo/process_facts.hpp"
#include "client/traffic.hpp"
#include "core/mongo/uri/uri.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "shell/mongo/pool/server_pool.hpp"

// A pooled connection gives back the buffers of unusually large messages when it goes idle.

namespace holdfast::proof::connection_memory_test {
namespace {

using namespace std::chrono_literals;
using shell::mongo::connection;
using shell::mongo::server_pool;

constexpr std::size_t large_message = 2'000'000;
constexpr std::size_t ordinary_message = 100'000;

/// What a connection keeps before and after one exchange, while it is in use.
struct memory_seen {
    std::size_t before = 0;
    std::size_t after = 0;
};

runtime::awaitable<void> exchange_over(std::shared_ptr<server_pool> pool, std::size_t request_size,
                                       memory_seen& seen)
{
    auto got = co_await pool->check_out(runtime::never);
    if (!got) {
        ADD_FAILURE() << got.error().explain();
        co_return;
    }
    const shell::mongo::lease over = *std::move(got);
    seen.before = over->memory();
    const request_id id = over->next_request();
    const std::string load(request_size, 'x');
    core::mongo::message_builder out{over->outgoing(), id};
    out.command().add("find", load).add("$db", "sea");
    const auto request = out.finish();
    EXPECT_TRUE(request.has_value());
    const auto reply = co_await over->round_trip(*request, id, "find");
    EXPECT_TRUE(reply.has_value());
    seen.after = over->memory();
}

/// A pool with one connection to a server that sends as much as the test wants.
struct pool_of_one {
    scene s{{.hosts = {"a"}}};
    std::size_t reply_size = 0;
    std::shared_ptr<server_pool> pool;

    explicit pool_of_one(const std::string& options)
    {
        s.server("a").on_hello([](const scripted_command&) {
            return scripted_reply{bson::doc("helloOk", true, "isWritablePrimary", true,
                                            "minWireVersion", 0, "maxWireVersion", 21,
                                            "compression", bson::list("zlib"), "ok", 1.0)};
        });
        s.server("a").on_command("find", [this](const scripted_command&) {
            return scripted_reply{bson::doc("x", std::string(reply_size, 'y'), "ok", 1.0)};
        });
        s.simulation.run_for(1ms);
        const auto uri = core::mongo::parse_uri("mongodb://a:27017/" + options).value();
        auto config = shell::mongo::make_connection_config(s.app.world(), uri.settings,
                                                           api::describe_process("memory"));
        shell::mongo::pool_options made;
        made.server = uri.settings.seeds.front();
        made.limits.max_size = 1;
        made.config = std::make_shared<const shell::mongo::connection_config>(
            std::move(config).value());
        server_pool::opening_handlers handlers;
        handlers.handshake_done = [](const endpoint&, bson::view) {};
        handlers.failed = [](const core::mongo::application_error&) {};
        std::vector<std::shared_ptr<mongo::event_listener>> none;
        auto events = std::make_shared<shell::mongo::event_hub>(std::move(none), nullptr);
        pool = server_pool::make(s.app.world(), std::move(made), std::move(events),
                                 std::move(handlers));
        pool->mark_ready();
    }
    ~pool_of_one()
    {
        pool->close(true);
        s.simulation.run_for(1s);
    }
    pool_of_one(const pool_of_one&) = delete;
    pool_of_one& operator=(const pool_of_one&) = delete;

    memory_seen exchange(std::size_t request_size, std::size_t size_of_reply,
                         std::chrono::milliseconds rest = 10s)
    {
        memory_seen seen;
        reply_size = size_of_reply;
        s.app.start(exchange_over(pool, request_size, seen));
        s.simulation.run_for(rest);
        return seen;
    }
};

TEST(connection_memory, idle_connection_gives_back_large_buffers)
{
    for (const char* const options : {"", "?compressors=zlib"}) {
        SCOPED_TRACE(options);
        pool_of_one p{options};
        const memory_seen large = p.exchange(large_message, large_message);
        EXPECT_GT(large.after, large_message);
        const memory_seen next = p.exchange(10, 10);
        EXPECT_LE(next.before, connection::idle_memory);
        EXPECT_EQ(p.s.server("a").connections(), 1U) << "it is the same connection";
    }
}

TEST(connection_memory, ten_replies_of_44_megabytes_leave_little)
{
    constexpr std::size_t huge_message = 44'000'000;
    pool_of_one p{""};
    for (int i = 0; i < 10; ++i)
        EXPECT_GE(p.exchange(10, huge_message).after, huge_message);
    EXPECT_LE(p.exchange(10, 10).before, connection::idle_memory);
    EXPECT_EQ(p.s.server("a").connections(), 1U) << "it is the same connection";
}

TEST(connection_memory, large_buffers_stay_while_large_messages_follow_each_other)
{
    pool_of_one p{""};
    const memory_seen first = p.exchange(10, large_message, 500ms);
    for (int i = 0; i < 5; ++i) {
        const memory_seen next = p.exchange(10, large_message, 500ms);
        EXPECT_EQ(next.before, first.after) << "nothing is allocated again";
    }
    p.s.simulation.run_for(2s);
    EXPECT_LE(p.exchange(10, 10).before, connection::idle_memory);
}

TEST(connection_memory, buffers_of_ordinary_messages_stay)
{
    pool_of_one p{""};
    const memory_seen first = p.exchange(10, ordinary_message);
    EXPECT_GT(first.after, ordinary_message);
    const memory_seen next = p.exchange(10, ordinary_message);
    EXPECT_EQ(next.before, first.after);
    EXPECT_EQ(next.after, first.after) << "nothing is allocated again";
}

}  // namespace
}  // namespace holdfast::proof::connection_memory_test
