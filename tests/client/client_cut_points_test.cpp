#include "api/mongo/access.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "net/world.hpp"
#include "support/dns_stub.hpp"
#include "world/net_party.hpp"
#include "world/socket_server.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

// Client, cursor, session and context may be destroyed in any order, at any moment, without
// close(). The context then destroys what is left of their coroutines in an order of its own: the
// address sanitizer sees whether one of them still uses what another one owned.

namespace holdfast::proof::client_cut_points_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

enum class cut_object : std::uint8_t { client, cursor, session, context };

/// An application that is cut off: some operations, then its objects go one by one, with a few
/// handlers in between.
class cut_application {
public:
    cut_application(std::uint32_t seed, const std::string& uri, const net::dns_settings& dns)
        : random_{seed}
    {
        const auto world = std::make_shared<net::async_world>(context_->get_executor(),
                                                              net::world_settings{.dns = dns});
        auto made = mongo::access::in_world(world, uri);
        EXPECT_TRUE(made.has_value());
        if (made)
            client_ = *std::move(made);
    }
    cut_application(const cut_application&) = delete;
    cut_application& operator=(const cut_application&) = delete;
    ~cut_application() { EXPECT_LE(most_completions(), 1) << "an operation completed twice"; }

    void run(std::array<cut_object, 4> order)
    {
        start_operations();
        run_handlers(draw(0, 1) == 0 ? draw(0, 6) : draw(0, 24));
        for (const cut_object one : order) {
            destroy(one);
            if (context_)
                run_handlers(draw(0, 4));
        }
    }

private:
    int draw(int least, int most)
    {
        return std::uniform_int_distribution<int>{least, most}(random_);
    }

    int most_completions() const { return *std::max_element(ends_.begin(), ends_.end()); }

    void start_operations()
    {
        if (!client_)
            return;
        session_ = client_->start_session();
        const auto sea = (*client_)["sea"]["coll"];
        const auto document = bson::doc("x", 1);
        for (std::size_t i = 0; i < 3; ++i)
            sea.insert_one(document.view(), {}, [&end = ends_[i]](const auto&) { ++end; });
        client_->run_command("sea", bson::doc("slow", 1), {}, [this](const auto&) { ++ends_[3]; });
        cursor_ = sea.find(bson::doc(), {.session = &*session_});
        cursor_->next([this](const auto&) { ++ends_[4]; });
    }

    void run_handlers(int count)
    {
        for (int i = 0; i < count; ++i)
            context_->run_one_for(200us);
    }

    void destroy(cut_object which)
    {
        switch (which) {
        case cut_object::client:
            client_.reset();
            break;
        case cut_object::cursor:
            cursor_.reset();
            break;
        case cut_object::session:
            session_.reset();
            break;
        case cut_object::context:
            // A timer that has expired is in the queue before the handlers of the sockets, and so
            // is destroyed before them.
            if (draw(0, 4) == 0)
                std::this_thread::sleep_for(2ms);
            context_->poll_one();
            context_.reset();
            break;
        }
    }

    std::mt19937 random_;
    std::array<int, 5> ends_{};  // of each operation: how often it completed
    std::optional<asio::io_context> context_{std::in_place, 1};
    std::optional<mongo::client> client_;
    std::optional<mongo::session> session_;
    std::optional<mongo::cursor> cursor_;
};

/// All orders in which the four objects can go.
std::array<cut_object, 4> order_of_destruction(std::uint32_t number)
{
    std::array<cut_object, 4> order{cut_object::client, cut_object::cursor, cut_object::session,
                                    cut_object::context};
    for (std::uint32_t i = 0; i < number % 24; ++i)
        std::next_permutation(order.begin(), order.end());
    return order;
}

/// A set whose cursors never end, and that leaves one command without a reply.
struct cut_server {
    socket_server server;

    cut_server()
    {
        server.ask([](scripted_server& script) {
            script.on_command("slow", [](const scripted_command&) { return keep_silent(); });
            script.on("find", [](bson::view) { return batch_of("firstBatch"); });
            script.on("getMore", [](bson::view) { return batch_of("nextBatch"); });
            script.on("killCursors", [](bson::view) { return bson::doc("ok", 1.0); });
        });
    }
    static bson::document batch_of(const char* field)
    {
        return bson::doc("cursor",
                         bson::object("id", std::int64_t{42}, "ns", "sea.coll", field,
                                      bson::list(bson::object("_id", 1))),
                         "ok", 1.0);
    }
    bool is_left_alone()
    {
        // Connections are accepted in the order in which they were made: once this client has its
        // reply, none of those before it still waits to be accepted and counted.
        mongo::sync::client{server.uri()}["sea"]["coll"].insert_one(bson::doc("last", 1));
        const auto limit = std::chrono::steady_clock::now() + net_timeout;
        while (std::chrono::steady_clock::now() < limit) {
            if (server.open_connections() == 0)
                return true;
            std::this_thread::yield();
        }
        return false;
    }
};

/// `timeoutMS` sets an alarm that is due within the pause.
constexpr std::array<const char*, 5> cut_options{
    "",
    "&timeoutMS=2",
    "&timeoutMS=2&serverMonitoringMode=poll",
    "&timeoutMS=2&minPoolSize=2&maxPoolSize=2",
    "&timeoutMS=2&connectTimeoutMS=3",
};

TEST(client_cut_points, objects_go_in_any_order_at_any_moment)
{
    cut_server s;
    for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE(seed);
        const char* const more = cut_options[seed / 24 % cut_options.size()];
        cut_application app{seed, s.server.uri(more), {}};
        app.run(order_of_destruction(seed));
        if (testing::Test::HasFailure())
            return;
    }
    EXPECT_TRUE(s.is_left_alone());
}

TEST(client_cut_points, tls_handshake_is_under_way)
{
    cut_server s;  // which does not answer it
    for (std::uint32_t seed = 0; seed < 48; ++seed) {
        SCOPED_TRACE(seed);
        cut_application app{seed, s.server.uri("&timeoutMS=2&tls=true&tlsInsecure=true"), {}};
        app.run(order_of_destruction(seed));
        if (testing::Test::HasFailure())
            return;
    }
    EXPECT_TRUE(s.is_left_alone());
}

TEST(client_cut_points, name_look_up_is_under_way)
{
    dns_stub names;
    names.behave(dns_stub::manner::is_silent);
    net::dns_settings dns;
    dns.servers = {names.address()};
    for (std::uint32_t seed = 0; seed < 96; ++seed) {
        SCOPED_TRACE(seed);
        const std::string uri = seed / 24 % 2 == 0 ? "mongodb://a.sea.test/?timeoutMS=2"
                                                   : "mongodb+srv://set.sea.test/?timeoutMS=2";
        cut_application app{seed, uri, dns};
        app.run(order_of_destruction(seed));
        if (testing::Test::HasFailure())
            return;
    }
}

}  // namespace
}  // namespace holdfast::proof::client_cut_points_test
