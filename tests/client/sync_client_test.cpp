#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "runtime/errc.hpp"
#include "world/net_party.hpp"
#include "world/socket_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace holdfast::proof::sync_client_test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Waits for something that other threads bring about; false if it does not come.
bool comes_true(const std::function<bool()>& what)
{
    const auto limit = clock::now() + net_timeout;
    while (!what()) {
        if (clock::now() > limit)
            return false;
        std::this_thread::yield();
    }
    return true;
}

std::size_t threads()
{
    const std::filesystem::directory_iterator all{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

bson::document ping()
{
    return bson::doc("ping", 1);
}

/// Says what it was asked.
void make_echo(socket_server& server)
{
    server.ask([](scripted_server& script) {
        script.on("echo", [](bson::view asked) {
            return bson::doc("n", asked.get<std::int32_t>("echo").value(), "ok", 1.0);
        });
    });
}

/// Never answers.
void make_slow(socket_server& server)
{
    server.ask([](scripted_server& script) {
        script.on_command("slow", [](const scripted_command&) { return keep_silent(); });
    });
}

TEST(sync_client, run_command_returns_the_reply_or_throws)
{
    socket_server server;
    server.ask([](scripted_server& script) {
        script.on("count", [](bson::view) { return error_reply(13); });
    });
    const mongo::sync::client client{server.uri()};
    client.ready();
    EXPECT_EQ(client.run_command("sea", ping()), bson::doc("ok", 1.0));
    const auto good = client.try_run_command("sea", ping());
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, bson::doc("ok", 1.0));

    const bson::document count = bson::doc("count", "coll");
    const auto bad = client.try_run_command("sea", count);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code(), (error_code{13, core::mongo::server_category()}));
    try {
        (void)client.run_command("sea", count);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const failure& thrown) {
        EXPECT_EQ(thrown.error().code(), bad.error().code());
        EXPECT_STREQ(thrown.what(), "count in sea.coll: scripted");
    }
    EXPECT_FALSE(client.try_run_command("sea", bson::document{})) << "a command without a name";
    EXPECT_NE(client.dump_state().find("RSPrimary"), std::string::npos) << client.dump_state();
    EXPECT_EQ(server.commands("ping").at(0).body.get<std::string>("$db").value(), "sea");
}

TEST(sync_client, invalid_connection_string_is_refused)
{
    EXPECT_THROW(mongo::sync::client{"wave://sea"}, failure);
    const auto made = mongo::sync::client::create("mongodb://a:b:c");
    ASSERT_FALSE(made);
    EXPECT_FALSE(made.error().message().empty());
    const mongo::sync::client nowhere{
        "mongodb+srv://nowhere.invalid/?serverSelectionTimeoutMS=200"};
    EXPECT_FALSE(nowhere.try_ready());
    EXPECT_THROW(nowhere.ready(), failure);
}

TEST(sync_client, writes_are_retried_in_the_same_session)
{
    socket_server server;
    server.ask([](scripted_server& script) {
        script.on_command("insert", [seen = 0](const scripted_command&) mutable {
            return ++seen == 1 ? hang_up() : scripted_reply{bson::doc("n", 1, "ok", 1.0)};
        });
    });
    const mongo::sync::client client{server.uri()};
    const mongo::session session = client.start_session();
    const mongo::command_options options{.kind = mongo::command_kind::write, .session = &session};
    const bson::document insert = bson::doc("insert", "coll", "documents",
                                            bson::list(bson::object("_id", 1)));
    const auto done = client.try_run_command("sea", insert, options);
    ASSERT_TRUE(done) << done.error().explain();
    ASSERT_TRUE(client.try_run_command("sea", insert, options));
    const auto sent = server.commands("insert");
    ASSERT_EQ(sent.size(), 3U);
    const auto number = [&](std::size_t i) {
        return sent[i].body.get<std::int64_t>("txnNumber").value();
    };
    EXPECT_EQ(number(0), number(1));
    EXPECT_EQ(number(2), number(1) + 1);
    for (const scripted_command& one : sent)
        EXPECT_EQ(one.body.get<bson::uuid>("lsid.id").value(), session.id());
    session.end();
    EXPECT_FALSE(client.try_run_command("sea", insert, options));
    client.close();
    EXPECT_EQ(server.count("endSessions"), 0U) << "a session in doubt is not ended, but forgotten";
}

TEST(sync_client, late_reply_after_the_deadline_is_never_delivered)
{
    socket_server server;
    make_echo(server);
    server.ask([](scripted_server& script) {
        script.on_command("late", [](const scripted_command&) {
            return scripted_reply{.body = bson::doc("late", true, "ok", 1.0), .delay = 1500ms};
        });
    });
    const mongo::sync::client client{server.uri("&maxPoolSize=1")};
    const bson::document late = bson::doc("late", 1);
    ASSERT_TRUE(client.try_run_command("sea", ping()));
    for (int i = 0; i < 3; ++i) {
        const auto began = clock::now();
        const auto reply = client.try_run_command("sea", late, {.timeout = 100ms});
        const auto took = clock::now() - began;
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code(), core::mongo::errc::operation_timed_out)
            << reply.error().explain();
        EXPECT_GE(took, 99ms);
        EXPECT_LT(took, 1400ms) << "it has waited for the reply";
        const auto next = client.try_run_command("sea", bson::doc("echo", i));
        ASSERT_TRUE(next) << next.error().explain();
        EXPECT_EQ(next->get<std::int32_t>("n").value_or(-1), i);
    }
    const auto lates = server.commands("late");
    const auto echoes = server.commands("echo");
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NE(lates.at(i).connection, echoes.at(i).connection) << "it still owes a reply";
}

TEST(sync_client, selection_ends_at_server_selection_timeout_ms)
{
    std::string address;
    {
        const socket_server gone;
        address = gone.address();
    }
    const mongo::sync::client client{"mongodb://" + address + "/?serverSelectionTimeoutMS=500"};
    const auto began = clock::now();
    const auto reply = client.try_run_command("sea", ping());
    const auto took = clock::now() - began;
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), core::mongo::errc::no_server) << reply.error().explain();
    EXPECT_NE(reply.error().message().find(address), std::string::npos);
    EXPECT_GE(took, 499ms);
    EXPECT_LT(took, 2s);
    const auto sooner = clock::now();
    EXPECT_FALSE(client.try_run_command("sea", ping(), {.timeout = 50ms}));
    EXPECT_LT(clock::now() - sooner, 450ms);
}

TEST(sync_client, many_threads_share_max_pool_size_connections)
{
    socket_server server;
    make_echo(server);
    const mongo::sync::client client{server.uri("&maxPoolSize=4")};
    std::atomic<int> right = 0;
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 8; ++worker) {
        workers.emplace_back([&, worker] {
            for (int i = 0; i < 200; ++i) {
                const int number = worker * 1000 + i;
                const auto reply = client.try_run_command("sea", bson::doc("echo", number));
                right += reply && reply->get<std::int32_t>("n").value_or(-1) == number ? 1 : 0;
            }
        });
    }
    for (std::thread& one : workers)
        one.join();
    EXPECT_EQ(right, 1600);
    const auto sent = server.commands("echo");
    EXPECT_EQ(sent.size(), 1600U);
    std::set<std::size_t> used;
    for (const scripted_command& one : sent)
        used.insert(one.connection);
    EXPECT_LE(used.size(), 4U);
    EXPECT_GE(used.size(), 2U);
}

TEST(sync_client, close_ends_operations_of_other_threads)
{
    socket_server server;
    make_slow(server);
    const mongo::sync::client client{server.uri("&maxPoolSize=2")};
    std::atomic<int> failed = 0;
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) {  // two wait for the server, and two for a connection
        workers.emplace_back(
            [&] { failed += client.try_run_command("sea", bson::doc("slow", 1)) ? 0 : 1; });
    }
    ASSERT_TRUE(comes_true([&] { return server.count("slow") == 2; }));
    EXPECT_EQ(failed, 0);
    const auto began = clock::now();
    client.close();
    for (std::thread& one : workers)
        one.join();
    EXPECT_LT(clock::now() - began, 5s);
    EXPECT_EQ(failed, 4);
    EXPECT_EQ(server.count("slow"), 2U);
    const auto later = client.try_run_command("sea", ping());
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code(), runtime::errc::cancelled) << later.error().explain();
    client.close();  // once more does no harm
}

TEST(sync_client, close_ends_waiting_server_selection)
{
    socket_server server;
    server.set.primary.clear();
    const mongo::sync::client client{server.uri()};
    std::atomic<bool> failed = false;
    std::thread waiting{[&] { failed = !client.try_run_command("sea", ping()); }};
    ASSERT_TRUE(
        comes_true([&] { return client.dump_state().find("RSSecondary") != std::string::npos; }));
    EXPECT_FALSE(failed);
    client.close();
    waiting.join();
    EXPECT_TRUE(failed);
    EXPECT_EQ(server.count("ping"), 0U);
}

TEST(sync_client, destruction_leaves_no_threads_or_sockets)
{
    socket_server server;
    make_slow(server);
    const auto use = [&](bool closes) {
        const mongo::sync::client client{server.uri("&minPoolSize=3")};
        ASSERT_TRUE(client.try_run_command("sea", ping()));
        ASSERT_FALSE(client.try_run_command("sea", bson::doc("slow", 1), {.timeout = 20ms}));
        const mongo::sync::client unused{server.uri()};
        const mongo::sync::client nowhere{"mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=20"};
        ASSERT_FALSE(nowhere.try_run_command("sea", ping()));
        EXPECT_GT(threads(), 1U);
        if (closes)
            client.close();
    };
    const auto none_left = [&] { return server.open_connections() == 0; };
    use(true);  // what the process does once, it has done then
    ASSERT_TRUE(comes_true(none_left));
    const std::size_t threads_before = threads();
    const std::size_t files_before = open_descriptors();
    for (const bool closes : {false, true, false}) {
        use(closes);
        EXPECT_EQ(threads(), threads_before);
        EXPECT_TRUE(comes_true(none_left));
        EXPECT_TRUE(comes_true([&] { return open_descriptors() == files_before; }))
            << open_descriptors() << " instead of " << files_before;
    }
}

/// On which threads commands of one name were sent.
class thread_watch final : public mongo::event_listener {
public:
    explicit thread_watch(std::string_view name) : name_{name} {}
    void on(const mongo::events::command_started& one) noexcept override
    {
        if (one.of.command_name != name_)
            return;
        if (std::this_thread::get_id() == home_)
            ++here;
        else
            ++elsewhere;
    }

    std::atomic<int> here = 0;  // on the thread that has made this
    std::atomic<int> elsewhere = 0;

private:
    const std::string_view name_;
    const std::thread::id home_ = std::this_thread::get_id();
};

/// A thread that waits for one server's answer would watch no server meanwhile.
TEST(sync_client, kill_cursors_is_sent_on_the_callers_thread)
{
    socket_server server;
    server.ask([](scripted_server& script) {
        script.on("find", [](bson::view) {
            return bson::doc("cursor",
                             bson::doc("id", std::int64_t{42}, "ns", "sea.coll", "firstBatch",
                                       bson::arr(bson::doc("_id", 1))),
                             "ok", 1.0);
        });
        script.on("killCursors", [](bson::view) { return bson::doc("ok", 1.0); });
    });
    const auto watch = std::make_shared<thread_watch>("killCursors");
    mongo::client_options options;
    options.listeners = {watch};
    const mongo::sync::client client{server.uri(), options};
    const auto test_collection = client["sea"]["coll"];
    {
        mongo::sync::cursor enough = test_collection.find(bson::doc(), {.limit = 1});
        EXPECT_TRUE(enough.next());
        EXPECT_EQ(watch->here, 1);
    }
    {
        mongo::sync::cursor late = test_collection.find(bson::doc(), {.timeout = 300ms});
        EXPECT_TRUE(late.next());
        std::this_thread::sleep_for(310ms);
        EXPECT_FALSE(late.try_next());
        EXPECT_EQ(watch->here, 2);
    }
    {
        mongo::sync::cursor unread = test_collection.find(bson::doc());
        EXPECT_TRUE(unread.next());
    }
    EXPECT_EQ(watch->here, 3);
    EXPECT_EQ(watch->elsewhere, 0);
}

TEST(sync_client, move_keeps_the_client_usable)
{
    socket_server server;
    mongo::sync::client first{server.uri()};
    ASSERT_TRUE(first.try_run_command("sea", ping()));
    mongo::sync::client second = std::move(first);
    ASSERT_TRUE(second.try_run_command("sea", ping()));
    second = mongo::sync::client{server.uri("&appName=demo")};
    EXPECT_TRUE(second.try_run_command("sea", ping()));
}

TEST(sync_client, appended_metadata_is_sent_in_hello)
{
    socket_server server;
    const mongo::sync::client client{server.uri()};
    client.append_metadata("demo", "1.0");
    EXPECT_THROW(client.append_metadata("demo|more"), failure);
    ASSERT_TRUE(client.try_run_command("sea", ping()));
    const std::size_t over = server.commands("ping").at(0).connection;
    const bson::document hello = server.ask(
        [over](scripted_server& script) { return script.first_hello(over); });
    EXPECT_EQ(hello.get<std::string>("client.driver.name").value(), "holdfast|demo");
}

}  // namespace
}  // namespace holdfast::proof::sync_client_test
