#include "lab/mongo/serve/served_node.hpp"

namespace holdfast::lab::mongo::fault_test {
namespace {

class fault : public served_node {
protected:
    void arm(std::string_view mode, std::string_view data)
    {
        const auto command = bson::from_json(R"({"configureFailPoint": "failCommand", "mode": )" +
                                             std::string{mode} + R"(, "data": )" +
                                             std::string{data} + "}");
        ASSERT_TRUE(command);
        const auto done = server->faults.configure(*command);
        ASSERT_TRUE(done) << done.error().message();
    }
    static constexpr std::string_view retryable =
        R"({"insert": "boats", "lsid": {"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}},
            "txnNumber": {"$numberLong": "1"}, "$db": "sea"})";
    static constexpr std::string_view plain = R"({"insert": "boats", "$db": "sea"})";
    using text = std::vector<std::string>;
};

TEST_F(fault, answers_with_an_error_so_many_times)
{
    start_in_set();
    arm(R"({"times": 2})", R"({"failCommands": ["insert"], "errorCode": 10107})");
    auto client = connect();
    EXPECT_TRUE(ok(run(*client, R"({"ping": 1, "$db": "sea"})")));
    const auto first = run(*client, plain);
    EXPECT_EQ(code_of(first), 10107);
    EXPECT_EQ(message_of(first), "Failing command via 'failCommand' failpoint");
    EXPECT_EQ(first.get<std::int64_t>("topologyVersion.counter").value_or(-1),
              server->topology_counter());
    EXPECT_TRUE(labels_of(first).empty());
    EXPECT_EQ(code_of(run(*client, plain)), 10107);
    EXPECT_TRUE(ok(run(*client, plain)));
}

TEST_F(fault, error_has_a_topology_version_only_if_the_member_denies_to_be_primary)
{
    start_in_set();
    auto client = connect();
    const auto has_version = [&](int code) {
        arm(R"({"times": 1})",
            R"({"failCommands": ["insert"], "errorCode": )" + std::to_string(code) + "}");
        return run(*client, plain).find("topologyVersion").operator bool();
    };
    for (const int code : {189, 10107, 11602, 13435, 13436})
        EXPECT_TRUE(has_version(code)) << code;
    for (const int code : {91, 11600, 10058, 6, 2})
        EXPECT_FALSE(has_version(code)) << code;
}

TEST_F(fault, error_of_a_standalone_has_no_topology_version)
{
    start();
    auto client = connect();
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 10107})");
    const auto reply = run(*client, plain);
    EXPECT_EQ(code_of(reply), 10107);
    EXPECT_FALSE(reply.find("topologyVersion"));
}

TEST_F(fault, labels_of_a_retryable_write)
{
    start_in_set();
    auto client = connect();
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 91})");
    EXPECT_EQ(labels_of(run(*client, retryable)), text{"RetryableWriteError"});
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 11000})");
    EXPECT_EQ(labels_of(run(*client, retryable)), text{});
    arm(R"({"times": 1})",
        R"({"failCommands": ["insert"], "errorCode": 91, "errorLabels": ["A", "B"]})");
    EXPECT_EQ(labels_of(run(*client, retryable)), (text{"A", "B"}));
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 91, "errorLabels": []})");
    EXPECT_EQ(labels_of(run(*client, retryable)), text{});
}

TEST_F(fault, lab_cut_reply_at_carries_the_command_out_and_cuts_its_reply)
{
    start_in_set();
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "labCutReplyAt": 20})");
    auto client = connect();
    EXPECT_TRUE(run(*client, plain).empty());
    EXPECT_TRUE(client->closed);
    auto second = connect();
    EXPECT_TRUE(ok(run(*second, plain)));
}

TEST_F(fault, an_old_server_does_not_label)
{
    node_options old;
    old.version = read_version("4.2").value();
    start_in_set(old);
    auto client = connect();
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 91})");
    EXPECT_EQ(labels_of(run(*client, retryable)), text{});
}

TEST_F(fault, closes_before_anything_is_done)
{
    start_in_set();
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "closeConnection": true})");
    auto client = connect();
    const auto before = on_disk->last();
    EXPECT_TRUE(run(*client, plain).empty());
    EXPECT_TRUE(client->closed);
    EXPECT_EQ(on_disk->last(), before);
}

TEST_F(fault, blocks_and_goes_on)
{
    start_in_set();
    arm(R"({"times": 3})",
        R"({"failCommands": ["ping"], "blockConnection": true, "blockTimeMS": 400})");
    auto client = connect();
    auto other = connect();
    const time_point began = net.now();
    send(*client, bson::doc("ping", 1, "$db", "sea"));
    EXPECT_TRUE(ok(run(*other, plain)));
    EXPECT_EQ(net.now() - began, 2ms) << "others are not held up";
    EXPECT_TRUE(ok(receive(*client)));
    EXPECT_EQ(net.now() - began, 402ms);
    arm(R"({"times": 1})", R"({"failCommands": ["ping"], "blockConnection": true,
        "blockTimeMS": 400, "errorCode": 50})");
    const time_point again = net.now();
    EXPECT_EQ(code_of(run(*client, R"({"ping": 1, "$db": "sea"})")), 50);
    EXPECT_EQ(net.now() - again, 402ms);
}

TEST_F(fault, adds_a_write_concern_error_to_what_was_done)
{
    start_in_set();
    auto client = connect();
    const std::string data = R"({"failCommands": ["insert"], "writeConcernError":
        {"code": 91, "errmsg": "Replication is being shut down"}})";
    arm(R"({"times": 1})", data);
    const auto before = on_disk->last();
    const auto reply = run(*client, retryable);
    EXPECT_TRUE(ok(reply));
    EXPECT_GT(on_disk->last(), before);
    EXPECT_EQ(reply.get<int>("n").value_or(0), 1);
    EXPECT_EQ(reply.get<int>("writeConcernError.code").value_or(0), 91);
    EXPECT_EQ(labels_of(reply), text{"RetryableWriteError"});
    arm(R"({"times": 1})", data);
    EXPECT_EQ(labels_of(run(*client, plain)), text{}) << "it has no number";
    arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorLabels": ["X"],
        "writeConcernError": {"code": 91, "errmsg": "x"}})");
    EXPECT_EQ(labels_of(run(*client, retryable)), text{"X"});
    EXPECT_FALSE(run(*client, plain).find("writeConcernError"));
}

TEST_F(fault, chooses_by_the_name_of_the_application)
{
    start_in_set();
    arm(R"("alwaysOn")", R"({"failCommands": ["hello", "ping"], "errorCode": 91,
        "appName": "boats"})");
    const auto established = [](std::string_view name) {
        return bson::doc("hello", 1, "client",
                         bson::doc("application", bson::doc("name", name), "driver",
                                   bson::doc("name", "d"), "os", bson::doc("type", "L")),
                         "$db", "admin");
    };
    auto other = connect();
    EXPECT_TRUE(ok(run(*other, established("weed"))));
    EXPECT_TRUE(ok(run(*other, R"({"ping": 1, "$db": "sea"})")));
    auto client = connect();
    EXPECT_EQ(code_of(run(*client, established("boats"))), 91) << "in its very first hello";
}

TEST_F(fault, request_rate_limiter_refuses_with_both_labels)
{
    start();
    auto client = connect();
    server->requests.enable(true);
    server->requests.set_rate(1, 2, server->now());
    int refused = 0;
    for (int i = 0; i < 4; ++i) {
        const auto reply = run(*client, R"({"ping": 1, "$db": "sea"})");
        if (ok(reply))
            continue;
        ++refused;
        EXPECT_EQ(code_of(reply), 462);
        EXPECT_EQ(reply.get<std::string>("codeName").value_or(""),
                  "IngressRequestRateLimitExceeded");
        EXPECT_EQ(labels_of(reply), (text{"SystemOverloadedError", "RetryableError"}));
    }
    EXPECT_EQ(refused, 2);
    EXPECT_TRUE(ok(run(*client, R"({"hello": 1, "$db": "admin"})"))) << "monitoring goes on";
    EXPECT_TRUE(ok(run(*client, R"({"setParameter": 1, "$db": "admin"})")));
    net.run_for(1s);
    EXPECT_TRUE(ok(run(*client, R"({"ping": 1, "$db": "sea"})")));
}

TEST_F(fault, overload_error_names_the_base_backoff_if_one_is_set)
{
    start_in_set();
    auto client = connect();
    const auto refused_with = [&](std::string_view labels) {
        arm(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 462, "errorLabels": )" +
                                   std::string{labels} + "}");
        return run(*client, plain).get<std::int64_t>("baseBackoffMS");
    };
    constexpr std::string_view both = R"(["SystemOverloadedError", "RetryableError"])";
    EXPECT_FALSE(refused_with(both)) << "none is set";
    server->base_backoff_ms = 50;
    EXPECT_EQ(refused_with(both).value_or(0), 50);
    EXPECT_FALSE(refused_with(R"(["SystemOverloadedError"])")) << "it must not be retried";
    EXPECT_FALSE(refused_with("[]"));
    server->requests.enable(true);
    server->requests.set_rate(1, 0, server->now());
    EXPECT_EQ(run(*client, R"({"ping": 1, "$db": "sea"})").get<int>("baseBackoffMS").value_or(0),
              50);
}

TEST_F(fault, connection_rate_limiter_closes_connections)
{
    start();
    server->connections.enable(true);
    server->connections.set_rate(1, 1, server->now());
    auto first = connect();
    EXPECT_TRUE(ok(run(*first, R"({"ping": 1, "$db": "sea"})")));
    auto second = connect();
    EXPECT_TRUE(second->closed || run(*second, R"({"ping": 1, "$db": "sea"})").empty());
    net.run_for(2s);
    auto third = connect();
    EXPECT_TRUE(ok(run(*third, R"({"ping": 1, "$db": "sea"})")));
}

}  // namespace
}  // namespace holdfast::lab::mongo::fault_test
