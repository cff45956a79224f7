#include "lab/couchbase/analytics/analytics_service.hpp"

#include "lab/couchbase/query/query_in_sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::analytics_service_test {
namespace {

using lab_couchbase_analytics = query_in_sim;

TEST_F(lab_couchbase_analytics, reply_is_that_of_the_analytics_service)
{
    const auto got = analyze("SELECT VALUE $x || $1",
                             R"(,"args":["b"],"$x":"a","client_context_id":"me")");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.rows(), R"("ab")");
    EXPECT_EQ(got.text_of("signature"), R"({"*":"*"})");
    EXPECT_EQ(got.text_of("clientContextID"), "me");
    EXPECT_EQ(got.text_of("plans"), "{}");
    const auto& metrics = got.body.at("metrics").as_object();
    EXPECT_EQ(metrics.at("processedObjects").as_int64(), 1);
    EXPECT_FALSE(metrics.contains("serviceLoad"));
    const auto other = send(0, R"({"statement":"SELECT 1"})", "cbas", "/analytics/service");
    EXPECT_EQ(other.rows(), R"({"$1":1})");
    const std::string place = lab.made->address(0, "cbas");
    EXPECT_EQ(ask(lab, place, "GET", "/admin/ping")->status(), 200);
    EXPECT_EQ(ask(lab, place, "GET", "/analytics/node/agg/stats/remaining")->body(), "{}");
    EXPECT_EQ(ask(lab, place, "GET", "/nothing")->status(), 404);
}

TEST_F(lab_couchbase_analytics, datasets_are_created_queried_and_dropped)
{
    put("a", R"({"n":1})");
    EXPECT_EQ(analyze("CREATE DATAVERSE `x`").state(), "success");
    EXPECT_EQ(analyze("CREATE DATAVERSE `x`").code(), 24039);
    EXPECT_EQ(analyze("CREATE DATAVERSE `x` IF NOT EXISTS").state(), "success");
    EXPECT_EQ(analyze("CREATE DATASET `x`.`d` ON `travel`").state(), "success");
    EXPECT_EQ(analyze("CREATE DATASET `x`.`d` ON `travel`").code(), 24040);
    EXPECT_EQ(analyze("CREATE DATASET IF NOT EXISTS `x`.`d` ON `travel`").state(), "success");
    EXPECT_EQ(analyze("CREATE DATASET `y`.`d` ON `travel`").code(), 24034);
    EXPECT_EQ(analyze("CREATE DATASET e ON nowhere").code(), 24045);
    EXPECT_EQ(analyze("CONNECT LINK `x`.`Local`").state(), "success");
    EXPECT_EQ(analyze("CONNECT LINK `x`.`far`").code(), 24006);
    EXPECT_EQ(analyze("SELECT n FROM `x`.`d` WHERE n = ?", R"(,"args":[1])").rows(), R"({"n":1})");
    EXPECT_EQ(analyze("CREATE INDEX i ON x.d (n:bigint)").state(), "success");
    EXPECT_EQ(analyze("CREATE INDEX i ON x.d (n:bigint)").code(), 24048);
    EXPECT_EQ(analyze("SELECT VALUE IndexName FROM Metadata.`Index` ORDER BY IsPrimary").rows(),
              R"("i" "d")");
    EXPECT_EQ(
        analyze("SELECT d.DatasetName, d.BucketName, d.LinkName FROM Metadata.`Dataset` d WHERE "
                "d.DataverseName <> \"Metadata\" AND d.DatasetType = \"INTERNAL\"")
            .rows(),
        R"({"DatasetName":"d","BucketName":"travel","LinkName":"Local"})");
    EXPECT_EQ(analyze("DROP INDEX x.d.j").code(), 24047);
    EXPECT_EQ(analyze("DROP INDEX x.d.i").state(), "success");
    EXPECT_EQ(analyze("DROP DATASET x.d").state(), "success");
    EXPECT_EQ(analyze("DROP DATASET x.d").code(), 24025);
    EXPECT_EQ(analyze("SELECT n FROM x.d").code(), 24045);
    EXPECT_EQ(analyze("DROP DATAVERSE x").state(), "success");
    EXPECT_EQ(analyze("DROP DATAVERSE x").code(), 24034);
}

TEST_F(lab_couchbase_analytics, collections_are_found_by_their_names_too)
{
    ASSERT_TRUE(command("scope travel inventory"));
    ASSERT_TRUE(command("collection travel inventory airline"));
    EXPECT_EQ(query("INSERT INTO travel.inventory.airline VALUES ('a', {'n': 1})").state(),
              "success");
    const std::string context = R"(,"query_context":"default:`travel`.`inventory`")";
    EXPECT_EQ(analyze("SELECT n FROM `airline`", context).rows(), R"({"n":1})");
    EXPECT_EQ(analyze("SELECT n FROM travel.inventory.airline").rows(), R"({"n":1})");
    EXPECT_EQ(analyze("ALTER COLLECTION travel.inventory.airline ENABLE ANALYTICS").state(),
              "success");
    EXPECT_EQ(analyze("SELECT VALUE DataverseName FROM Metadata.`Dataset`").rows(),
              R"("travel/inventory")");
    EXPECT_EQ(analyze("SELECT n FROM airline", context).rows(), R"({"n":1})");
}

TEST_F(lab_couchbase_analytics, errors_have_numbers_of_its_own)
{
    struct {
        const char* statement;
        std::string more;
        std::int64_t code;
        int status;
    } const table[] = {
        {"SLECT 1", "", 24000, 400},
        {"DELETE FROM travel", "", 24000, 400},
        {"PREPARE SELECT 1", "", 24000, 400},
        {"SELECT * FROM nothing LIMIT 1", "", 24045, 400},
        {"SELECT * FROM Metadata.Nothing", "", 24045, 400},
        {"SELECT $y", "", 25000, 500},
        {"SELECT 1", R"(,"foo":1)", 21008, 400},
        {"CREATE DATAVERSE x", R"(,"readonly":true)", 21008, 400},
    };
    for (const auto& row : table) {
        SCOPED_TRACE(row.statement);
        const auto got = analyze(row.statement, row.more);
        EXPECT_EQ(got.code(), row.code);
        EXPECT_EQ(got.status, row.status);
    }
    std::string text = http_text("POST", "/query/service", body_of("SELECT 1", ""));
    text.replace(text.find("YWRhOmxvdmVsYWNl"), 16, "YWRhOngx");
    const auto refused = dial(lab, lab.made->address(0, "cbas"), text);
    EXPECT_EQ(refused->status(), 401);
    EXPECT_EQ(read_answer(*refused).code(), 20000);
}

TEST_F(lab_couchbase_analytics, request_that_waits_too_long_times_out)
{
    ASSERT_TRUE(command("hold-index all on"));
    put("a", "1");
    const auto waits = std::make_shared<dialled_port>();
    lab.client.start(
        talk_to(lab.client.world(), lab.made->address(0, "cbas"),
                http_text("POST", "/query/service",
                          body_of("SELECT VALUE COUNT(*) FROM travel",
                                  R"(,"scan_consistency":"request_plus","timeout":"100ms")")),
                waits, seconds{60}));
    EXPECT_TRUE(lab.pass_until([&] { return waits->over; }, seconds{1}));
    EXPECT_EQ(read_answer(*waits).code(), 21002);
    EXPECT_EQ(read_answer(*waits).state(), "timeout");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::analytics_service_test
