#include "client/traffic.hpp"
#include "holdfast/mongo/error.hpp"

/// The one fact that each of the commonest mistakes needs is in its error.
namespace holdfast::proof::error_text_test {
namespace {

using namespace std::chrono_literals;

void expect_text(const operation& op, std::string_view part)
{
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    EXPECT_NE(op.explain().find(part), std::string::npos) << op.explain();
}

TEST(error_text, server_that_does_not_answer_has_the_time_since_it_was_called)
{
    for (const bool connects : {true, false}) {
        scene s{{.hosts = {"a"}}};
        s.simulation.run_for(1ms);  // the server begins to listen
        if (connects)
            s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::ignore; });
        else
            s.simulation.partition(s.host("a"), s.app);
        s.connect("&serverSelectionTimeoutMS=1500");
        const operation& op = s.run(ping_command());
        expect_text(op, "server selection timed out after 1.5 s");
        expect_text(op,
                    "a:27017: no answer to the connection attempt begun 1.5 s ago "
                    "(connectTimeoutMS 10 s)");
        expect_text(op, "ping in sea: ");
        EXPECT_EQ(s.close(), "");
    }
}

TEST(error_text, exhausted_pool_has_its_server_and_its_numbers)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_command("count", [](const scripted_command&) {
        return scripted_reply{.body = bson::doc("ok", 1.0), .delay = 10s};
    });
    s.connect("&maxPoolSize=1&waitQueueTimeoutMS=100");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.start(bson::doc("count", "coll"));
    s.simulation.run_for(10ms);
    const operation& first = s.start(ping_command());
    s.simulation.run_for(50ms);
    const operation& second = s.start(ping_command());
    ASSERT_TRUE(s.finish(first));
    EXPECT_FALSE(second.done());
    expect_text(first, "ping in sea: Timed out while checking out a connection");
    expect_text(first, "server: a:27017");
    expect_text(first,
                "pool: 1 connections are in use, 0 are being opened, 1 others wait; maxPoolSize 1");
    ASSERT_TRUE(s.finish_all());
    expect_text(second, "0 others wait");
    expect_clean(s);
}

TEST(error_text, failed_login_has_its_source_code_and_text)
{
    scene s{{.hosts = {"a"}}};
    const auto door = guarded(s);
    s.connect_to("mongodb://ada:babbage@a/shop?replicaSet=rs");
    const operation& op = s.run(ping_command());
    ASSERT_FALSE(op.good());
    EXPECT_EQ(mongo::kind_of(op.outcome->error()), mongo::error_kind::authentication);
    expect_text(op, "authSource shop, error code 18 (AuthenticationFailed)");
    expect_text(op, "ping in sea: ");
    const std::string text = op.explain();
    EXPECT_EQ(text.find("code: "), text.rfind("code: ")) << text;
    EXPECT_EQ(text.find("\n  cause: "), std::string::npos) << "it is the message: " << text;
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::error_text_test
