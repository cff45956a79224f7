#include "api/mongo/access.hpp"
#include "client/traffic.hpp"
#include "core/mongo/error/errc.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "world/socket_server.hpp"

#include <boost/asio/io_context.hpp>

/// Warnings about the connection string, as the programs get them that give no log.
namespace holdfast::proof::uri_warnings_test {
namespace {

std::size_t occurrences(const std::string& text, std::string_view what)
{
    std::size_t count = 0;
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + what.size()))
        ++count;
    return count;
}

void expect_one_warning(const std::string& printed)
{
    EXPECT_EQ(occurrences(printed, "option \"maxPoolSzie\" is unknown and ignored"), 1U) << printed;
    EXPECT_EQ(occurrences(printed, "\n"), 1U) << printed;
}

TEST(client_uri_warnings, client_without_a_log_prints_them_once_on_standard_error)
{
    socket_server server;
    testing::internal::CaptureStderr();
    {
        boost::asio::io_context context{1};
        const mongo::client client{context.get_executor(), server.uri("&maxPoolSzie=3")};
        int good = 0;
        for (int i = 0; i < 2; ++i)
            client.run_command("sea", ping_command(), {},
                               [&](const auto& done) { good += !!done; });
        while (good < 2 && context.run_one_for(std::chrono::seconds{10}) > 0) {}
        EXPECT_EQ(good, 2);
    }
    expect_one_warning(testing::internal::GetCapturedStderr());
}

TEST(client_uri_warnings, blocking_client_without_a_log_prints_them_once_on_standard_error)
{
    socket_server server;
    testing::internal::CaptureStderr();
    {
        const mongo::sync::client client{server.uri("&maxPoolSzie=3")};
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(client.try_run_command("sea", ping_command()));
    }
    expect_one_warning(testing::internal::GetCapturedStderr());
}

TEST(client_uri_warnings, strict_client_fails_to_open_for_a_wrong_value_in_a_txt_record)
{
    for (const bool strict : {false, true}) {
        SCOPED_TRACE(strict);
        scene s{{.hosts = {"h1.home.test"}}};
        s.simulation.set_srv("_mongodb._tcp.cluster.home.test",
                             {{.host = "h1.home.test", .port = 27017}});
        s.simulation.set_txt("cluster.home.test", {"loadBalanced=perhaps"});
        const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &s.app.world()};
        mongo::client_options options;
        options.strict = strict;
        s.client = mongo::access::in_world(world, "mongodb+srv://cluster.home.test/?tls=false",
                                           std::move(options))
                       .value();
        const operation& op = s.run(ping_command());
        ASSERT_TRUE(op.done());
        EXPECT_EQ(op.good(), !strict) << op.explain();
        EXPECT_EQ(s.close(), "");
        if (!strict)
            continue;
        EXPECT_EQ(op.outcome->error().code(), core::mongo::errc::invalid_option);
        EXPECT_NE(op.explain().find("loadBalanced"), std::string::npos) << op.explain();
    }
}

}  // namespace
}  // namespace holdfast::proof::uri_warnings_test
