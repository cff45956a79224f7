#include "api/mongo/access.hpp"
#include "client/traffic.hpp"
#include "core/mongo/wire/frame_reader.hpp"

#include <malloc.h>

#include <fstream>

namespace holdfast::proof::pool_test {
namespace {

using namespace std::chrono_literals;

TEST(client_pool, connection_string_limits_hold_for_every_pool)
{
    scene s{{.hosts = {"a", "b"}, .sharded = true}};
    for (const char* const name : {"a", "b"})
        s.server(name).on_command("ping", [](const scripted_command&) {
            return scripted_reply{.body = bson::doc("ok", 1.0), .delay = 50ms};
        });
    s.connect(
        "&maxPoolSize=3&minPoolSize=2&maxConnecting=1&maxIdleTimeMS=20000"
        "&waitQueueTimeoutMS=70");
    s.settle();
    for (const char* const server : {"a:27017", "b:27017"})
        EXPECT_EQ(s.events().count(heard::connection_ready, server), 2U) << "minPoolSize";
    for (int i = 0; i < 24; ++i)
        s.start(ping_command());
    EXPECT_TRUE(s.finish_all());
    std::size_t late = 0;
    for (const operation& one : s.operations)
        late += one.good() ? 0 : 1;
    EXPECT_GE(late, 6U) << "who waits longer than waitQueueTimeoutMS gives up";
    for (const char* const server : {"a:27017", "b:27017"}) {
        EXPECT_EQ(s.events().count(heard::connection_created, server), 3U);
        for (const record& one : s.events().of(heard::check_out_failed, server))
            EXPECT_EQ(one.name, "timeout");
    }
    s.simulation.run_for(60s);
    std::size_t idle = 0;
    for (const record& one : s.events().of(heard::connection_closed))
        idle += one.name == "idle" ? 1 : 0;
    EXPECT_GE(idle, 6U) << "maxIdleTimeMS";
    expect_clean(s, {.pool = 3, .connecting = 1});
}

TEST(client_pool, listener_receives_every_event_of_a_connection)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    EXPECT_TRUE(s.run(ping_command()).good());
    expect_clean(s);
    std::string story;
    for (const record& one : s.events().all()) {
        if (one.what >= heard::pool_created && one.what <= heard::checked_in)
            story += std::string{name_of(one.what)} + "; ";
    }
    // Sessions are ended over it as well before it is closed.
    EXPECT_EQ(story,
              "pool created; pool ready; check out started; connection created; "
              "connection ready; checked out; checked in; check out started; "
              "checked out; checked in; connection closed; pool closed; ");
}

TEST(client_pool, failed_handshake_fails_the_checkout)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    s.settle();
    s.server("a").on_hello([](const scripted_command&) { return hang_up(); });
    EXPECT_FALSE(s.run(ping_command()).good());
    const auto failed = s.events().of(heard::check_out_failed);
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].name, "connectionError");
    expect_clean(s);
}

TEST(client_pool, connection_closed_by_a_middlebox_while_idle_costs_no_operation)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&retryWrites=false");
    s.settle();
    ASSERT_TRUE(s.write(1).good());
    s.simulation.run_for(15s);
    s.server("a").drop_connection(s.server("a").commands("insert").back().connection);
    s.simulation.run_for(10ms);
    const operation& op = s.write(2);
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(s.server("a").count("insert"), 2U);
    EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
    EXPECT_EQ(s.events().count(heard::connection_closed), 1U);
    expect_clean(s);
}

TEST(client_pool, wait_queue_is_first_in_first_out)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.run(ping_command()).good());
    std::vector<int> order;
    s.server("a").on("insert", [&](bson::view command) {
        order.push_back(command["documents"].as_array()[0].as_document()["_id"].as_int32());
        return good_write().body;
    });
    std::vector<int> expected;
    for (int id = 0; id < 30; ++id) {
        s.start_write(id);
        expected.push_back(id);
    }
    EXPECT_TRUE(s.finish_all());
    EXPECT_EQ(order, expected);
    expect_clean(s, {.pool = 1});
}

TEST(client_pool, waiting_read_is_retried_after_pool_cleared)
{
    scene s;
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("find", in_turn({hang_up(50ms), {.body = bson::doc("ok", 1.0)}}));
    for (int id = 0; id < 5; ++id)
        s.start(bson::doc("find", "coll"), as_read());
    EXPECT_TRUE(s.finish_all());
    for (const operation& one : s.operations)
        EXPECT_TRUE(one.good()) << one.explain();
    EXPECT_EQ(s.events().count(heard::check_out_failed, "a:27017"), 4U);
    EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
    expect_clean(s, {.pool = 1});
}

/// The hello of application connection number `which` (from 1) takes 8 s on server "a". Needs
/// compressors: a monitor offers none.
void delay_handshake(scene& s, std::size_t which)
{
    const auto last = std::make_shared<std::size_t>(0);
    s.server("a").on_hello([&s, last, which](const scripted_command& hello) {
        scripted_reply reply{s.set.hello_of("a:27017")};
        const bson::element offered = hello.body["compression"];
        if (offered && !offered.as_array().empty() && ++*last == which)
            reply.delay = 8s;
        return reply;
    });
}

TEST(client_pool, clear_gives_up_a_handshake_that_hangs)
{
    for (const char* const connecting : {"2", "10"}) {
        SCOPED_TRACE(connecting);
        scene s{{.hosts = {"a"}}};
        delay_handshake(s, 2);
        s.connect("&compressors=zlib&maxConnecting=" + std::string{connecting});
        ASSERT_TRUE(s.write().good());
        s.server("a").on_command("insert", in_turn({hang_up(50ms), good_write()}));
        s.start_write(2);
        s.start_write(3);
        ASSERT_TRUE(s.finish_all());
        for (const operation& one : s.operations) {
            EXPECT_TRUE(one.good()) << one.explain();
            EXPECT_LT(one.took(), 1s);
        }
        const auto cleared = s.events().of(heard::pool_cleared);
        ASSERT_EQ(cleared.size(), 1U);
        for (const record& one : s.events().of(heard::connection_closed)) {
            if (one.connection == 2) {
                EXPECT_EQ(one.name, "stale");
                EXPECT_EQ(one.when, cleared[0].when);
            }
        }
        expect_clean(s, {.connecting = 10});
    }
}

TEST(client_pool, handshake_that_hangs_after_a_clear_does_not_stop_the_pool)
{
    for (const char* const connecting : {"2", "10"}) {
        for (const int operations : {1, 4}) {
            SCOPED_TRACE(connecting);
            scene s{{.hosts = {"a"}}};
            delay_handshake(s, 2);
            s.connect("&compressors=zlib&maxPoolSize=3&maxConnecting=" + std::string{connecting});
            ASSERT_TRUE(s.write().good());
            s.server("a").on_command("insert", in_turn({hang_up(50ms), good_write()}));
            s.start_write(2);
            s.simulation.run_for(100ms);  // the pool is cleared, and the server is to be checked
            for (int id = 2; id <= operations; ++id)
                s.start_write(id + 1);
            ASSERT_TRUE(s.finish_all());
            for (const operation& one : s.operations) {
                EXPECT_TRUE(one.good()) << one.explain();
                EXPECT_LT(one.took(), 1s);
            }
            EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
            expect_clean(s, {.pool = 3, .connecting = 10});
        }
    }
}

std::size_t threads_of_this_process()
{
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Threads:"))
            return std::stoul(line.substr(8));
    }
    return 0;
}

TEST(client_pool, fifty_members_need_no_thread_and_little_memory)
{
    scene_options options;
    options.hosts.clear();
    for (int i = 0; i < 50; ++i)
        options.hosts.push_back("m" + std::to_string(i));
    scene s{options};
    s.simulation.run_for(1ms);
    const std::size_t threads = threads_of_this_process();
    const std::size_t before = mallinfo2().uordblks;
    {
        // Without a recorder, whose memory is not the client's.
        const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &s.app.world()};
        s.client.emplace(
            mongo::access::in_world(world, "mongodb://m0:27017/?replicaSet=rs").value());
    }
    s.settle(25s);  // both connections of each monitor are open
    for (const std::string& name : options.hosts)
        EXPECT_EQ(s.server(name).open_connections(), 2U);
    const std::size_t after = mallinfo2().uordblks;
    EXPECT_EQ(threads_of_this_process(), threads);
    EXPECT_EQ(s.close(), "");
    if (before == 0)
        GTEST_SKIP() << "a sanitizer's allocator does not say how much is in use";
    // The servers are in it as well; that much is theirs for certain, so the client needs less.
    const std::size_t of_server = 2 * core::mongo::frame_reader::usual_capacity;
    ASSERT_GT((after - before) / 50, of_server) << "this measures something else";
    const std::size_t per_member = (after - before) / 50 - of_server;
    EXPECT_LT(per_member, 200'000U);
    RecordProperty("bytes_per_member", std::to_string(per_member));
}

}  // namespace
}  // namespace holdfast::proof::pool_test
