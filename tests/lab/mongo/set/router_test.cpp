#include "lab/mongo/set/set_in_sim.hpp"

namespace holdfast::lab::router_test {
namespace {

using namespace std::chrono_literals;

/// A set of three with two routers, each on its own host, and a balancer.
class routed : public testing::Test {
protected:
    explicit routed(mongo::server_version version = {})
        : on{3, 3,
             [&](mongo::deployment_options& options) {
                 options.node.version = version;
                 add_routers(options);
             }},
          leads{on.settle()}
    {
    }

    void add_routers(mongo::deployment_options& options)
    {
        // The client's host is there before all others; routers run on it.
        for (std::uint16_t n = 0; n < 2; ++n)
            options.routers.push_back(
                {&router_world(), "", "client", static_cast<std::uint16_t>(30000 + n)});
        options.balancer = mongo::place{&router_world(), "", "client", 31000};
    }
    runtime::world& router_world() { return on.client.world(); }

    static awaitable<void> ask(routed* self, std::string address, bson::document command,
                               std::shared_ptr<std::optional<bson::document>> into,
                               std::shared_ptr<bool> done)
    {
        runtime::world& in = self->on.client.world();
        const time_point until = in.steady_now() + 30s;
        auto where = mongo::read_address(address);
        auto line = co_await mongo::peer::connect(in, *std::move(where), {}, until);
        if (line) {
            const auto reply = co_await (*line)->ask(command.view(), until);
            if (reply)
                *into = bson::document{*reply};
        }
        *done = true;
    }
    bson::document run(const std::string& address, std::string_view json)
    {
        const auto command = bson::from_json(json);
        EXPECT_TRUE(command) << json;
        const auto reply = std::make_shared<std::optional<bson::document>>();
        const auto done = std::make_shared<bool>(false);
        on.client.start(ask(this, address, bson::document{command->view()}, reply, done));
        EXPECT_TRUE(on.pass_until([&] { return *done; }, 40s)) << json;
        return reply->value_or(bson::document{});
    }
    bson::document run(std::size_t router, std::string_view json)
    {
        return run(on.set->router_address(router), json);
    }

    set_in_sim on;
    std::size_t leads;
};

TEST_F(routed, hello_of_a_router_has_msg_isdbgrid)
{
    const bson::document hello = run(0, R"({"hello": 1, "$db": "admin"})");
    EXPECT_EQ(hello.get<std::string_view>("msg").value(), "isdbgrid");
    EXPECT_TRUE(hello.get<bool>("isWritablePrimary").value());
    EXPECT_FALSE(hello["setName"]);
    EXPECT_TRUE(is_ok(run(1, R"({"ping": 1, "$db": "admin"})")));
    EXPECT_EQ(
        run(0, R"({"replSetGetStatus": 1, "$db": "admin"})").get<std::int32_t>("code").value(), 59);
    EXPECT_EQ(run(0, R"({"nonsense": 1, "$db": "admin"})").get<std::int32_t>("code").value(), 59);
}

TEST_F(routed, passes_on_the_time_of_the_set)
{
    const auto time_in = [](const bson::document& reply) {
        return reply.find_path("$clusterTime.clusterTime").get<bson::timestamp>();
    };
    const bson::document written = run(
        0, R"({"insert": "c", "documents": [{"_id": 1}], "$db": "db"})");
    const auto of_write = time_in(written);
    ASSERT_TRUE(of_write) << bson::to_json(written).value();
    for (const char* const command :
         {R"({"ping": 1, "$db": "admin"})", R"({"nonsense": 1, "$db": "admin"})"}) {
        const bson::document reply = run(0, command);
        const auto later = time_in(reply);
        ASSERT_TRUE(later) << bson::to_json(reply).value();
        EXPECT_GE(*later, *of_write);
        EXPECT_TRUE(reply["operationTime"]);
    }
}

TEST_F(routed, leads_writes_and_reads_to_the_set)
{
    const bson::document written = run(0, R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2},
        {"_id": 3}], "$db": "db"})");
    ASSERT_TRUE(is_ok(written)) << bson::to_json(written).value();
    EXPECT_EQ(written.get<std::int32_t>("n").value(), 3);
    EXPECT_EQ(on.count(leads, "db.c"), 3U);
    const bson::document found = run(1, R"({"find": "c", "batchSize": 2, "$db": "db"})");
    ASSERT_TRUE(is_ok(found));
    const std::int64_t id = found.get<std::int64_t>("cursor.id").value();
    ASSERT_NE(id, 0);
    const std::string more = R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
                             R"("}, "collection": "c", "$db": "db"})";
    EXPECT_EQ(run(0, more).get<std::int32_t>("code").value(), 43) << "it is the other one's";
    const bson::document rest = run(1, more);
    ASSERT_TRUE(is_ok(rest)) << bson::to_json(rest).value();
    EXPECT_EQ(rest.find_path("cursor.nextBatch").as_array().count(), 1U);
    on.settle();
    const bson::document elsewhere = run(0, R"({"find": "c", "$db": "db",
        "$readPreference": {"mode": "secondary"}})");
    EXPECT_EQ(elsewhere.find_path("cursor.firstBatch").as_array().count(), 3U);
}

TEST_F(routed, finds_the_next_primary)
{
    ASSERT_TRUE(is_ok(run(0, R"({"insert": "c", "documents": [{"_id": 1}],
        "writeConcern": {"w": "majority"}, "$db": "db"})")));
    ASSERT_TRUE(is_ok(on.run(leads, R"({"replSetStepDown": 60, "force": true, "$db": "admin"})")));
    ASSERT_TRUE(is_ok(run(0, R"({"insert": "c", "documents": [{"_id": 2}],
        "writeConcern": {"w": "majority"}, "$db": "db"})")));
    on.crash(on.wait_for_primary());
    ASSERT_TRUE(is_ok(run(1, R"({"find": "c", "$db": "db"})")));
    const bson::document written = run(0, R"({"insert": "c", "documents": [{"_id": 3}],
        "lsid": {"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}},
        "txnNumber": {"$numberLong": "1"}, "$db": "db"})");
    EXPECT_TRUE(is_ok(written)) << bson::to_json(written).value();
}

TEST_F(routed, router_has_fail_points_of_its_own)
{
    ASSERT_TRUE(is_ok(run(0, R"({"configureFailPoint": "failCommand", "mode": {"times": 1},
        "data": {"failCommands": ["find"], "errorCode": 8, "failInternalCommands": true},
        "$db": "admin"})")));
    EXPECT_TRUE(is_ok(run(1, R"({"find": "c", "$db": "db"})")));
    EXPECT_EQ(run(0, R"({"find": "c", "$db": "db"})").get<std::int32_t>("code").value(), 8);
    EXPECT_TRUE(is_ok(run(0, R"({"find": "c", "$db": "db"})")));
}

constexpr std::string_view fail_concern = R"({"configureFailPoint": "failCommand",
    "mode": {"times": 1}, "data": {"failCommands": ["insert"], "failInternalCommands": true,
    "writeConcernError": {"code": 91, "errmsg": "no"}}, "$db": "admin"})";
constexpr std::string_view numbered_insert = R"({"insert": "c", "documents": [{"_id": 1}],
    "lsid": {"id": {"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}},
    "txnNumber": {"$numberLong": "1"}, "$db": "db"})";

TEST_F(routed, labels_what_is_wrong_with_the_write_concern)
{
    ASSERT_TRUE(is_ok(run(0, fail_concern)));
    const auto reply = run(0, numbered_insert);
    EXPECT_EQ(reply.get<std::int32_t>("writeConcernError.code").value(), 91);
    EXPECT_EQ(reply.get<std::string>("errorLabels.0").value(), "RetryableWriteError");
}

class routed_before_labels : public routed {
protected:
    routed_before_labels() : routed{{4, 2, 0}} {}
};

TEST_F(routed_before_labels, leaves_it_to_clients_what_is_wrong_with_the_write_concern)
{
    ASSERT_TRUE(is_ok(run(0, fail_concern)));
    const auto reply = run(0, numbered_insert);
    EXPECT_EQ(reply.get<std::int32_t>("writeConcernError.code").value(), 91);
    EXPECT_FALSE(reply["errorLabels"]);
}

TEST_F(routed, a_balancer_leads_to_both_and_they_say_who_they_are)
{
    const std::string hello = R"({"hello": 1, "loadBalanced": true, "$db": "admin"})";
    const bson::document first = run(on.set->balancer_address(), hello);
    const bson::document second = run(on.set->balancer_address(), hello);
    ASSERT_TRUE(first["serviceId"]) << bson::to_json(first).value();
    ASSERT_TRUE(second["serviceId"]);
    EXPECT_NE(first["serviceId"].as_object_id(), second["serviceId"].as_object_id());
    EXPECT_FALSE(run(0, R"({"hello": 1, "$db": "admin"})")["serviceId"]);
}

}  // namespace
}  // namespace holdfast::lab::router_test
