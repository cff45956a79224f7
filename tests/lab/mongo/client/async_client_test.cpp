#include "lab/mongo/client/client_lab.hpp"
#include "support/canary.hpp"
#include "support/certificates.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace holdfast::proof::async_client_test {
namespace {

using namespace std::chrono_literals;
using boost::asio::awaitable;

/// Writes a long document, reads it again, and counts. What went wrong, if anything did.
awaitable<std::string> write_and_read(mongo::client with, int id)
{
    const std::string text(100'000, static_cast<char>('a' + id % 26));
    const bson::document insert = safe_insert(id, text);
    const bson::document find = bson::doc("find", "boats", "filter", bson::object("_id", id));
    const auto written = co_await with.run_command("sea", insert, as_write(),
                                                   boost::asio::use_awaitable);
    if (!written)
        co_return written.error().explain();
    const auto found = co_await with.run_command("sea", find, {}, boost::asio::use_awaitable);
    if (!found)
        co_return found.error().explain();
    const std::string same = found->get<std::string>("cursor.firstBatch.0.text").value_or("");
    co_return same == text ? "" : "something else came back";
}

awaitable<std::string> write_many(mongo::client with, int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        const bson::document insert = safe_insert(i);
        const auto done = co_await with.run_command("sea", insert, as_write(),
                                                    boost::asio::use_awaitable);
        if (!done)
            co_return done.error().explain();
    }
    co_return std::string{};
}

awaitable<std::int64_t> count(mongo::client with)
{
    const bson::document command = count_command();
    const bson::document reply = co_await with.run_command("sea", command);
    co_return number_in(reply);
}

awaitable<void> close(mongo::client which)
{
    co_await which.close();
}

TEST(lab_client, logs_in_by_every_mechanism)
{
    auto set = started({.members = 1, .user = canary::user, .password = canary::password});
    client_loop loop;
    int id = 0;
    for (const char* const mechanism :
         {"", "&authMechanism=SCRAM-SHA-1", "&authMechanism=SCRAM-SHA-256"}) {
        const mongo::client client{loop.executor(), set.uri() + mechanism};
        EXPECT_EQ(loop.run(write_and_read(client, ++id)), "") << mechanism;
        loop.run(close(client));
    }
    std::string none_found = set.uri();
    none_found.erase(none_found.find(canary::user),
                     none_found.find('@') + 1 - none_found.find(canary::user));
    const mongo::client stranger{loop.executor(), none_found};
    EXPECT_NE(loop.run(write_and_read(stranger, 99)), "") << "a login is needed";
    loop.run(close(stranger));
}

TEST(lab_client, compresses_by_every_algorithm)
{
    auto set = started({.members = 1});
    client_loop loop;
    int id = 0;
    for (const char* const compressors : {"snappy", "zlib", "zstd", "zstd,snappy,zlib"}) {
        const mongo::client client{loop.executor(), set.uri() + "&compressors=" + compressors};
        EXPECT_EQ(loop.run(write_and_read(client, ++id)), "") << compressors;
        loop.run(close(client));
    }
}

TEST(lab_client, speaks_tls_with_everything_at_once)
{
    auto set = started({.user = canary::user,
                        .password = canary::password,
                        .tls_certificate = certificates::file("server.pem")});
    client_loop loop;
    const mongo::client client{
        loop.executor(), set.uri() + "&compressors=zstd&tlsCAFile=" + certificates::file("ca.pem")};
    for (int id = 0; id < 20; ++id)
        ASSERT_EQ(loop.run(write_and_read(client, id)), "");
    EXPECT_EQ(loop.run(count(client)), 20);
    loop.run(close(client));
}

TEST(lab_client, writes_each_document_once_whatever_happens_to_the_primary)
{
    auto set = started({});
    client_loop loop;
    const mongo::client client{loop.executor(), set.uri()};
    ASSERT_EQ(loop.run(write_many(client, 0, 20)), "");
    for (int turn = 0; turn < 2; ++turn) {
        auto pens = std::vector<std::future<std::string>>{};
        for (int pen = 0; pen < 4; ++pen)
            pens.push_back(boost::asio::co_spawn(
                loop.executor(), write_many(client, (turn + 1) * 10'000 + pen * 1000, 100),
                boost::asio::use_future));
        if (turn == 0) {
            ASSERT_TRUE(set.step_down(1s));
        } else {
            const auto leads = set.wait_for_primary();
            ASSERT_TRUE(leads);
            ASSERT_TRUE(set.crash(*leads));
        }
        for (auto& one : pens)
            EXPECT_EQ(one.get(), "") << (turn == 0 ? "stepped down" : "crashed");
    }
    EXPECT_EQ(loop.run(count(client)), 820);
    loop.run(close(client));
}

TEST(lab_client, hears_of_a_new_primary_by_streaming)
{
    auto set = started({});
    client_loop loop;
    mongo::client_options options;
    const auto watch = std::make_shared<topology_watch>();
    options.listeners.push_back(watch);
    // Polling would be a minute late, and no operation fails meanwhile.
    const mongo::client client{loop.executor(), set.uri() + "&heartbeatFrequencyMS=60000", options};
    ASSERT_EQ(loop.run(write_many(client, 0, 1)), "");
    for (int turn = 0; turn < 2; ++turn) {
        ASSERT_TRUE(set.step_down(1s));
        const auto leads = set.wait_for_primary();
        ASSERT_TRUE(leads);
        EXPECT_TRUE(watch->wait_for_primary(set.address(*leads)));
    }
    EXPECT_GT(watch->awaited(), 2U);
    loop.run(close(client));
}

TEST(lab_client, client_reaches_routers_and_a_standalone)
{
    auto routed = started({.members = 1, .routers = 2});
    auto alone = started({.standalone = true});
    client_loop loop;
    for (const std::string& uri : {routed.router_uri(), alone.uri()}) {
        const mongo::client client{loop.executor(), uri};
        const bson::document insert = bson::doc("insert", "boats", "documents",
                                                bson::list(bson::object("_id", 1)));
        const auto written = loop.run(client.run_command("sea", insert, as_write()));
        EXPECT_EQ(number_in(written), 1) << uri;
        EXPECT_EQ(loop.run(count(client)), 1) << uri;
        loop.run(close(client));
    }
}

TEST(lab_client, unclosed_client_lets_its_loop_end)
{
    auto set = started({.members = 1});
    client_loop loop;  // would never end if something of the client went on
    const mongo::client client{loop.executor(), set.uri()};
    EXPECT_EQ(loop.run(write_many(client, 0, 5)), "");
}

}  // namespace
}  // namespace holdfast::proof::async_client_test
