#include "lab/mongo/serve/served_node.hpp"

namespace holdfast::lab::mongo::hello_test {
namespace {

class hello : public served_node {
protected:
    static bson::document awaiting(const bson::document& before, std::int64_t await_ms)
    {
        return bson::doc("hello", 1, "topologyVersion", before.find("topologyVersion"),
                         "maxAwaitTimeMS", await_ms, "$db", "admin");
    }
    static std::int64_t counter(const bson::document& reply)
    {
        return reply.get<std::int64_t>("topologyVersion.counter").value_or(-1);
    }
    static constexpr std::string_view established =
        R"({"hello": 1, "client": {"application": {"name": "boats"},
            "driver": {"name": "d", "version": "1"}, "os": {"type": "Linux"}}, "$db": "admin"})";
};

TEST_F(hello, standalone_reports_limits_and_wire_versions)
{
    start();
    auto client = connect();
    const auto reply = run(*client, R"({"hello": 1, "helloOk": true, "$db": "admin"})");
    EXPECT_TRUE(ok(reply));
    EXPECT_TRUE(reply.get<bool>("isWritablePrimary").value_or(false));
    EXPECT_FALSE(reply.find("ismaster"));
    EXPECT_TRUE(reply.get<bool>("helloOk").value_or(false));
    EXPECT_EQ(reply.get<int>("maxBsonObjectSize").value_or(0), 16'777'216);
    EXPECT_EQ(reply.get<int>("maxMessageSizeBytes").value_or(0), 48'000'000);
    EXPECT_EQ(reply.get<int>("maxWriteBatchSize").value_or(0), 100'000);
    EXPECT_EQ(reply.get<int>("logicalSessionTimeoutMinutes").value_or(0), 30);
    EXPECT_EQ(reply.get<int>("minWireVersion").value_or(-1), 0);
    EXPECT_EQ(reply.get<int>("maxWireVersion").value_or(-1), 27);
    EXPECT_EQ(reply.get<int>("connectionId").value_or(-1), 1);
    EXPECT_FALSE(reply.get<bool>("readOnly").value_or(true));
    EXPECT_EQ(reply.find("localTime").type(), bson::type::datetime);
    EXPECT_EQ(reply.find_path("topologyVersion.processId").type(), bson::type::object_id);
    EXPECT_EQ(counter(reply), 0);
    EXPECT_FALSE(reply.find("$clusterTime"));
    EXPECT_FALSE(reply.find("compression"));

    auto second = connect();
    const auto legacy = run(*second, R"({"isMaster": 1, "$db": "admin"})");
    EXPECT_TRUE(legacy.get<bool>("ismaster").value_or(false));
    EXPECT_FALSE(legacy.find("isWritablePrimary"));
    EXPECT_FALSE(legacy.find("helloOk"));
    EXPECT_EQ(legacy.get<int>("connectionId").value_or(-1), 2);
}

TEST_F(hello, old_version_omits_newer_fields)
{
    node_options old;
    old.version = read_version("4.2").value();
    old.sessions = false;
    start(old);
    auto client = connect();
    EXPECT_EQ(code_of(run(*client, R"({"hello": 1, "$db": "admin"})")), 59);
    const auto reply = run(*client, R"({"isMaster": 1, "helloOk": true, "$db": "admin"})");
    EXPECT_EQ(reply.get<int>("maxWireVersion").value_or(-1), 8);
    EXPECT_FALSE(reply.find("topologyVersion"));
    EXPECT_FALSE(reply.find("helloOk"));
    EXPECT_FALSE(reply.find("logicalSessionTimeoutMinutes"));
}

TEST_F(hello, versions_are_read)
{
    EXPECT_EQ(read_version("8.2").value().wire(), 27);
    EXPECT_EQ(read_version("8.0.4").value().text(), "8.0.4");
    EXPECT_EQ(read_version("3.6").value().wire(), 6);
    EXPECT_EQ(read_version("7.0").value().wire(), 21);
    for (const char* wrong : {"", "8.", "8.9", "2.6", "x", "8.2x", "8.2.1.1", "-8.2"})
        EXPECT_FALSE(read_version(wrong)) << wrong;
}

TEST_F(hello, waits_for_a_change_or_for_its_time)
{
    start_in_set();
    auto client = connect();
    const auto first = run(*client, R"({"hello": 1, "$db": "admin"})");
    const time_point began = net.now();
    const auto same = run(*client, awaiting(first, 10'000));
    EXPECT_EQ(net.now() - began, 10'002ms);
    EXPECT_EQ(counter(same), counter(first));

    const time_point asked = net.now();
    net.at_time(net.now() + 3s, [this] { server->topology_changed(); });
    const auto changed = run(*client, awaiting(same, 10'000));
    EXPECT_EQ(net.now() - asked, 3'001ms);
    EXPECT_EQ(counter(changed), counter(first) + 1);

    const time_point behind_by_one = net.now();
    EXPECT_EQ(counter(run(*client, awaiting(same, 10'000))), counter(first) + 1);
    EXPECT_EQ(net.now() - behind_by_one, 2ms);
}

TEST_F(hello, another_process_is_news_at_once)
{
    start();
    auto client = connect();
    const time_point began = net.now();
    EXPECT_TRUE(ok(run(*client, R"({"hello": 1, "topologyVersion":
        {"processId": {"$oid": "0123456789abcdef01234567"}, "counter": {"$numberLong": "77"}},
        "maxAwaitTimeMS": 10000, "$db": "admin"})")));
    EXPECT_EQ(net.now() - began, 2ms);
}

TEST_F(hello, half_of_an_await_is_refused)
{
    start();
    auto client = connect();
    const auto reply = run(*client, R"({"hello": 1, "$db": "admin"})");
    EXPECT_EQ(code_of(run(*client, R"({"hello": 1, "maxAwaitTimeMS": 1, "$db": "admin"})")), 31368);
    EXPECT_EQ(code_of(run(*client, bson::doc("hello", 1, "topologyVersion",
                                             reply.find("topologyVersion"), "$db", "admin"))),
              31368);
    EXPECT_EQ(code_of(run(*client, awaiting(reply, -1))), 31373);
}

TEST_F(hello, streams_as_long_as_it_is_allowed_to)
{
    start_in_set();
    auto client = connect();
    const auto first = run(*client, R"({"hello": 1, "$db": "admin"})");
    core::mongo::message_flags flags;
    flags.exhaust_allowed = true;
    const time_point began = net.now();
    send(*client, awaiting(first, 1'000), flags);
    auto reply = receive(*client);
    EXPECT_EQ(net.now() - began, 1'002ms);
    EXPECT_TRUE(client->more_to_come);
    EXPECT_EQ(client->last_response_to, 102);
    const auto before = client->last_request;
    reply = receive(*client);
    EXPECT_EQ(net.now() - began, 2'002ms);
    EXPECT_EQ(client->last_response_to, before);
    net.at_time(began + 2'500ms, [this] { server->topology_changed(); });
    reply = receive(*client);
    EXPECT_EQ(net.now() - began, 2'501ms);
    EXPECT_EQ(counter(reply), counter(first) + 1);
    EXPECT_TRUE(client->more_to_come);
    reply = receive(*client);
    EXPECT_EQ(net.now() - began, 3'501ms) << "it waits from the version that was just sent";
    EXPECT_TRUE(ok(reply));
}

TEST_F(hello, client_that_goes_while_hello_streams_is_noticed_at_once)
{
    start_in_set();
    auto client = connect();
    const auto first = run(*client, R"({"hello": 1, "$db": "admin"})");
    core::mongo::message_flags flags;
    flags.exhaust_allowed = true;
    send(*client, awaiting(first, 10'000), flags);
    EXPECT_TRUE(ok(receive(*client)));
    EXPECT_TRUE(client->more_to_come);
    net.run_for(100ms);
    EXPECT_EQ(port->connections(), 1U);
    client->stream.reset();
    net.run_for(10ms);
    EXPECT_EQ(port->connections(), 0U);
    EXPECT_EQ(server->open_connections, 0);
}

TEST_F(hello, request_that_comes_while_another_waits_is_answered_after_it)
{
    start_in_set();
    auto client = connect();
    const auto first = run(*client, R"({"hello": 1, "$db": "admin"})");
    for (const std::size_t size : {std::size_t{1}, std::size_t{10'000}}) {
        send(*client, awaiting(first, 1'000));
        net.run_for(100ms);
        send(*client, bson::doc("ping", 1, "comment", std::string(size, 'x'), "$db", "sea"));
        EXPECT_EQ(counter(receive(*client)), counter(first));
        const auto pong = receive(*client);
        EXPECT_TRUE(ok(pong)) << text_of(pong);
        EXPECT_FALSE(pong.find("topologyVersion"));
        EXPECT_TRUE(ok(run(*client, R"({"ping": 1, "$db": "sea"})")));
    }
}

TEST_F(hello, a_stream_can_be_broken_by_a_fail_point)
{
    start_in_set();
    auto client = connect();
    const auto first = run(*client, R"({"hello": 1, "$db": "admin"})");
    core::mongo::message_flags flags;
    flags.exhaust_allowed = true;
    send(*client, awaiting(first, 1'000), flags);
    EXPECT_TRUE(ok(receive(*client)));
    ASSERT_TRUE(server->faults.configure(
        bson::from_json(R"({"configureFailPoint": "failCommand", "mode": {"times": 1},
            "data": {"failCommands": ["hello"], "errorCode": 91}})")
            .value()));
    EXPECT_TRUE(ok(receive(*client))) << "this one was under way";
    const auto refused = receive(*client);
    EXPECT_EQ(code_of(refused), 91);
    EXPECT_FALSE(client->more_to_come);
    EXPECT_TRUE(ok(run(*client, R"({"hello": 1, "$db": "admin"})")));
}

TEST_F(hello, second_client_metadata_is_refused)
{
    start();
    auto client = connect();
    EXPECT_TRUE(ok(run(*client, established)));
    EXPECT_EQ(code_of(run(*client, established)), 186);
    EXPECT_TRUE(ok(run(*client, R"({"hello": 1, "$db": "admin"})")));
}

TEST_F(hello, metadata_has_a_form)
{
    start();
    const std::string long_name(200, 'x');
    const struct {
        bson::document client;
        int code;
    } rows[] = {
        {bson::from_json(R"({"os": {"type": "L"}})").value(), 183},
        {bson::from_json(R"({"driver": {"name": "d"}})").value(), 183},
        {bson::doc("driver", bson::doc("name", "d"), "os", bson::doc("type", "L"), "application",
                   bson::doc("name", long_name)),
         184},
        {bson::doc("driver", bson::doc("name", long_name + long_name + long_name), "os",
                   bson::doc("type", "L")),
         185},
    };
    for (const auto& row : rows) {
        auto client = connect();
        const auto command = bson::doc("hello", 1, "client", row.client, "$db", "admin");
        EXPECT_EQ(code_of(run(*client, command)), row.code);
    }
}

TEST_F(hello, reply_lists_the_compressors_both_support)
{
    start();
    auto client = connect();
    const auto reply = run(*client, R"({"hello": 1, "$db": "admin",
        "compression": ["zstd", "lzma", "zlib", "snappy", "noop", "zlib"]})");
    constexpr std::string_view both = R"(["zstd","zlib","snappy"])";
    EXPECT_EQ(bson::to_json(reply.find("compression").as_array()).value(), both);
    const auto later = run(*client, R"({"hello": 1, "$db": "admin"})");
    ASSERT_EQ(later.find("compression").type(), bson::type::array) << "it is repeated";
    EXPECT_EQ(bson::to_json(later.find("compression").as_array()).value(), both);
    auto other = connect();
    EXPECT_FALSE(run(*other, R"({"hello": 1, "$db": "admin"})").find("compression"));
}

TEST_F(hello, reply_begins_with_the_topology_version)
{
    start_in_set();
    auto client = connect();
    const auto reply = run(*client, R"({"hello": 1, "$db": "admin"})");
    EXPECT_EQ(reply.begin()->key(), "topologyVersion");
}

TEST_F(hello, set_member_replies_with_cluster_and_operation_time)
{
    auto& set = start_in_set();
    auto client = connect();
    EXPECT_TRUE(ok(run(*client, R"({"insert": "x", "$db": "sea"})")));
    const auto reply = run(*client, R"({"hello": 1, "$db": "admin"})");
    EXPECT_EQ(reply.get<bson::timestamp>("operationTime").value(), set.last.ts);
    EXPECT_EQ(reply.get<bson::timestamp>("$clusterTime.clusterTime").value(), set.last.ts);
    const auto hash = reply.find_path("$clusterTime.signature.hash");
    ASSERT_EQ(hash.type(), bson::type::binary);
    EXPECT_EQ(hash.as_binary().bytes.size(), 20U);
    EXPECT_EQ(reply.get<std::int64_t>("$clusterTime.signature.keyId").value_or(1), 0);
}

TEST_F(hello, load_balanced_hello_has_service_id)
{
    balancer = true;
    start();
    auto client = connect();
    const auto reply = run(*client, R"({"hello": 1, "loadBalanced": true, "client":
        {"driver": {"name": "d"}, "os": {"type": "L"}}, "$db": "admin"})");
    EXPECT_EQ(reply.get<bson::object_id>("serviceId").value(), server->process);
    auto other = connect();
    EXPECT_EQ(code_of(run(*other, established)), 354);
}

}  // namespace
}  // namespace holdfast::lab::mongo::hello_test
