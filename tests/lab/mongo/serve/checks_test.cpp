#include "lab/mongo/serve/served_node.hpp"

namespace holdfast::lab::mongo::checks_test {
namespace {

class checks : public served_node {
protected:
    void expect(test_client& by, std::string_view json, int code, std::string_view message = {})
    {
        const auto reply = run(by, json);
        EXPECT_EQ(code_of(reply), code) << json << '\n' << text_of(reply);
        if (!message.empty()) {
            EXPECT_NE(message_of(reply).find(message), std::string::npos) << text_of(reply);
        }
        if (code != 0) {
            EXPECT_EQ(reply.get<std::string>("codeName").value_or(""), code_name(code));
            EXPECT_EQ(reply.get<double>("ok").value_or(1), 0);
        }
    }
    static constexpr std::string_view session =
        R"("lsid": {"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}})";
    static std::string write(std::string_view more)
    {
        return R"({"insert": "boats", )" + std::string{session} + ", " + std::string{more} +
               R"(, "$db": "sea"})";
    }
};

TEST_F(checks, commands_are_refused_by_name_database_and_concern)
{
    start();
    auto client = connect();
    expect(*client, R"({"frobnicate": 1, "$db": "sea"})", 59, "no such command: 'frobnicate'");
    expect(*client, R"({"adminOnly": 1, "$db": "sea"})", 13,
           "adminOnly may only be run against the admin database.");
    expect(*client, R"({"adminOnly": 1, "$db": "admin"})", 0);
    expect(*client, R"({"ping": 1, "$db": "sea", "writeConcern": {"w": 1}})", 72,
           "Command does not support writeConcern");
}

TEST_F(checks, api_version_fields_are_checked)
{
    start();
    auto client = connect();
    expect(*client, R"({"ping": 1, "apiVersion": "1", "apiStrict": true, "$db": "a"})", 0);
    expect(*client, R"({"ping": 1, "apiVersion": "2", "$db": "a"})", 322, "API version must be");
    expect(*client, R"({"read": 1, "apiVersion": "1", "apiStrict": true, "$db": "a"})", 323,
           "Provided apiStrict:true, but the command read is not in API Version 1");
    expect(*client, R"({"read": 1, "apiVersion": "1", "$db": "a"})", 0);
    expect(*client, R"({"ping": 1, "apiStrict": true, "$db": "a"})", 4886600);
    expect(*client, R"({"ping": 1, "apiVersion": 1, "$db": "a"})", 14);
}

TEST_F(checks, command_is_refused_by_the_state_of_the_member)
{
    auto& set = start_in_set();
    set.primary = false;
    set.secondary = true;
    auto client = connect();
    expect(*client, R"({"insert": "boats", "$db": "sea"})", 10107, "not primary");
    expect(*client, R"({"read": 1, "$db": "sea"})", 13435, "not primary and secondaryOk=false");
    expect(*client, R"({"read": 1, "$readPreference": {"mode": "primary"}, "$db": "sea"})", 13435);
    expect(*client, R"({"read": 1, "$readPreference": {"mode": "nearest"}, "$db": "sea"})", 0);
    expect(*client, R"({"stats": 1, "$db": "sea"})", 0);
    expect(*client, R"({"ping": 1, "$db": "sea"})", 0);
    set.secondary = false;
    expect(*client, R"({"stats": 1, "$db": "sea"})", 13436);
    expect(*client, R"({"read": 1, "$readPreference": {"mode": "nearest"}, "$db": "sea"})", 13436);
}

TEST_F(checks, state_change_error_has_topology_version)
{
    auto& set = start_in_set();
    set.primary = false;
    auto client = connect();
    const auto reply = run(*client, R"({"insert": "boats", "$db": "sea"})");
    EXPECT_EQ(reply.get<std::int64_t>("topologyVersion.counter").value_or(-1), 0);
    EXPECT_TRUE(reply.find("$clusterTime"));
    EXPECT_TRUE(labels_of(reply).empty());
    const auto labelled = run(*client, write(R"("txnNumber": {"$numberLong": "1"})"));
    EXPECT_EQ(labels_of(labelled), std::vector<std::string>{"RetryableWriteError"});
}

TEST_F(checks, txn_number_is_checked)
{
    start();
    auto alone = connect();
    expect(*alone, write(R"("txnNumber": {"$numberLong": "1"})"), 20,
           "Transaction numbers are only allowed on a replica set member or mongos");
    expect(*alone, write(R"("txnNumber": {"$numberLong": "1"}, "autocommit": false)"), 263);

    auto set = std::make_unique<pretended_set>();
    server->member = std::move(set);
    expect(*alone, write(R"("txnNumber": {"$numberLong": "1"})"), 0);
    expect(*alone, write(R"("txnNumber": 1)"), 14);
    expect(*alone, write(R"("txnNumber": {"$numberLong": "-1"})"), 2);
    expect(*alone, R"({"insert": "x", "txnNumber": {"$numberLong": "1"}, "$db": "sea"})", 72,
           "Transaction number requires a session ID");
    expect(*alone,
           R"({"ping": 1, "txnNumber": {"$numberLong": "1"}, )" + std::string{session} +
               R"(, "$db": "sea"})",
           50768);
}

TEST_F(checks, field_types_are_checked)
{
    start();
    auto client = connect();
    const struct {
        const char* field;
        int code;
    } rows[] = {
        {R"("lsid": 1)", 14},
        {R"("maxTimeMS": "x")", 14},
        {R"("maxTimeMS": -1)", 2},
        {R"("maxTimeMS": 3000000000)", 2},
        {R"("maxTimeMS": 1.5)", 2},
        {R"("readConcern": 1)", 14},
        {R"("readConcern": {"level": 1})", 14},
        {R"("readConcern": {"level": "best"})", 2},
        {R"("readConcern": {"colour": 1})", 40415},
        {R"("readConcern": {"afterClusterTime": 1})", 14},
        {R"("readConcern": {"atClusterTime": {"$timestamp": {"t": 1, "i": 1}}})", 72},
        {R"("writeConcern": 1)", 14},
        {R"("writeConcern": {"w": -1})", 9},
        {R"("writeConcern": {"w": 51})", 9},
        {R"("writeConcern": {"w": true})", 9},
        {R"("writeConcern": {"x": 1})", 40415},
        {R"("writeConcern": {"j": "yes"})", 14},
        {R"("writeConcern": {"j": true, "fsync": true})", 9},
        {R"("$readPreference": 1)", 14},
        {R"("$readPreference": {"mode": "best"})", 9},
        {R"("$readPreference": {})", 9},
        {R"("$clusterTime": 1)", 14},
        {R"("$clusterTime": {})", 4},
        {R"("$clusterTime": {"clusterTime": 1})", 14},
        {R"("autocommit": 1)", 14},
        {R"("apiStrict": 1)", 14},
    };
    for (const auto& row : rows)
        expect(*client, R"({"insert": "x", )" + std::string{row.field} + R"(, "$db": "a"})",
               row.code);
    expect(*client, R"({"ping": 1})", 40571);
    expect(*client, R"({"ping": 1, "$db": 1})", 14);
    for (const char* name : {"", "a.b", "a b", "a$b", "a/b"})
        expect(*client, R"({"ping": 1, "$db": ")" + std::string{name} + R"("})", 73);
}

TEST_F(checks, standalone_refuses_concerns_of_a_set)
{
    start();
    auto client = connect();
    expect(*client, R"({"insert": "x", "writeConcern": {"w": 1, "j": true}, "$db": "a"})", 0);
    expect(*client, R"({"insert": "x", "writeConcern": {"w": 0, "j": true}, "$db": "a"})", 0);
    expect(*client, R"({"insert": "x", "writeConcern": {"x": 1}, "$db": "a"})", 40415,
           "BSON field 'WriteConcernOptions.x' is an unknown field.");
    expect(*client, R"({"insert": "x", "writeConcern": {"w": "majority"}, "$db": "a"})", 0);
    expect(*client, R"({"insert": "x", "writeConcern": {"w": 2}, "$db": "a"})", 2,
           "cannot use 'w' > 1 when a host is not replicated");
    expect(*client, R"({"insert": "x", "writeConcern": {"w": "tags"}, "$db": "a"})", 2);
    expect(*client, R"({"find": "x", "readConcern": {"level": "snapshot"}, "$db": "a"})", 123);
    expect(*client, R"({"find": "x", "readConcern": {"level": "majority"}, "$db": "a"})", 0);
}

TEST_F(checks, snapshots_are_for_reads)
{
    start_in_set();
    auto client = connect();
    expect(*client, R"({"find": "x", "readConcern": {"level": "snapshot"}, "$db": "a"})", 0);
    expect(*client, R"({"read": "x", "readConcern": {"level": "snapshot"}, "$db": "a"})", 72);
    expect(*client, R"({"insert": "x", "readConcern": {"level": "snapshot"}, "$db": "a"})", 72);
}

TEST_F(checks, after_cluster_time_read_waits_for_that_time)
{
    auto& set = start_in_set();
    set.primary = false;
    set.secondary = true;
    auto client = connect();
    const auto now = static_cast<std::uint32_t>(
        std::chrono::floor<std::chrono::seconds>(server->wall_now()).time_since_epoch().count());
    const bson::timestamp soon{now + 5, 1};
    const auto read = [&](std::int64_t max_time) {
        return bson::doc("find", "x", "readConcern", bson::doc("afterClusterTime", soon),
                         "$readPreference", bson::doc("mode", "secondary"), "$clusterTime",
                         bson::doc("clusterTime", soon), "maxTimeMS", max_time, "$db", "sea");
    };
    const time_point began = net.now();
    EXPECT_EQ(code_of(run(*client, read(500))), 50);
    EXPECT_EQ(net.now() - began, 502ms);
    net.at_time(net.now() + 2s, [&] {
        change note;
        const bson::document text = bson::doc("msg", "test");
        note.o = text;
        ASSERT_TRUE(on_disk->write(note, 1, server->wall_now() + 5s));
        server->news.notify();
    });
    const time_point again = net.now();
    EXPECT_TRUE(ok(run(*client, read(0))));
    EXPECT_EQ(net.now() - again, 2'001ms);
}

TEST_F(checks, a_primary_catches_up_by_itself)
{
    start_in_set();
    auto client = connect();
    const auto now = static_cast<std::uint32_t>(
        std::chrono::floor<std::chrono::seconds>(server->wall_now()).time_since_epoch().count());
    const bson::timestamp soon{now + 5, 4'000'000'000};
    EXPECT_TRUE(
        ok(run(*client, bson::doc("find", "x", "readConcern", bson::doc("afterClusterTime", soon),
                                  "$clusterTime", bson::doc("clusterTime", soon), "$db", "sea"))));
    EXPECT_GT(on_disk->last().ts, soon);
    const bson::timestamp unknown{now + 50, 1};
    EXPECT_EQ(
        code_of(run(*client, bson::doc("find", "x", "readConcern",
                                       bson::doc("afterClusterTime", unknown), "$db", "sea"))),
        72);
    const bson::timestamp absurd{0xFFFFFFFF, 1};
    EXPECT_EQ(code_of(run(*client, bson::doc("ping", 1, "$clusterTime",
                                             bson::doc("clusterTime", absurd), "$db", "sea"))),
              207);
}

TEST_F(checks, waiting_command_ends_in_time_or_by_max_time_ms)
{
    start();
    auto client = connect();
    const time_point began = net.now();
    const auto reply = run(*client, R"({"wait": 1, "$db": "sea"})");
    EXPECT_EQ(net.now() - began, 3'002ms);
    EXPECT_TRUE(reply.get<bool>("expired").value_or(false));
    const time_point again = net.now();
    expect(*client, R"({"wait": 1, "maxTimeMS": 100, "$db": "sea"})", 50);
    EXPECT_EQ(net.now() - again, 102ms);
}

}  // namespace
}  // namespace holdfast::lab::mongo::checks_test
