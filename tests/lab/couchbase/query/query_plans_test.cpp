#include "lab/couchbase/query/query_definitions.hpp"
#include "lab/couchbase/query/query_in_sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::query_plans_test {
namespace {

class lab_couchbase_query_plans : public query_in_sim {
protected:
    /// As SDKs prepare where that can be done in one request; gives the name.
    std::string prepare(std::string_view statement, const std::string& more = "",
                        std::size_t node = 0)
    {
        const auto got = query("PREPARE " + std::string{statement}, ",\"auto_execute\":true" + more,
                               node);
        EXPECT_EQ(got.state(), "success") << got.text;
        return got.text_of("prepared");
    }
    query_answer run(const std::string& name, const std::string& more = "", std::size_t node = 0)
    {
        return send(node, "{\"prepared\":\"" + name + "\"" + more + "}");
    }
};

TEST_F(lab_couchbase_query_plans, prepared_statement_runs_at_once_and_by_its_name)
{
    const auto first = query("PREPARE SELECT RAW $1 + 1", R"(,"auto_execute":true,"args":[1])");
    EXPECT_EQ(first.rows(), "2");
    const std::string name = first.text_of("prepared");
    EXPECT_TRUE(name.starts_with("[" + lab.made->address(0, "mgmt") + "]")) << name;
    EXPECT_EQ(run(name, R"(,"args":[41])").rows(), "42");
    EXPECT_EQ(prepare("SELECT RAW $1 + 1", R"(,"args":[0])"), name);
    EXPECT_EQ(rows("SELECT RAW statement FROM system:prepareds"), R"("SELECT RAW $1 + 1")");
}

TEST_F(lab_couchbase_query_plans, named_plans_are_run_by_execute)
{
    EXPECT_EQ(query("PREPARE answer FROM SELECT RAW $x").rows().find("\"name\":\"answer\""),
              query("PREPARE answer FROM SELECT RAW $x").rows().find("\"name\""));
    EXPECT_EQ(rows("EXECUTE answer USING {'x': 42}"), "42");
    EXPECT_EQ(rows("EXECUTE answer", R"(,"$x":7)"), "7");
    EXPECT_EQ(query("EXECUTE nothing").code(), 4040);
    EXPECT_EQ(query("EXECUTE answer USING 1").code(), 1040);
}

TEST_F(lab_couchbase_query_plans, other_nodes_find_the_plan_where_its_name_says)
{
    const std::string name = prepare("SELECT 1");
    EXPECT_EQ(run(name, "", 1).rows(), R"({"$1":1})");
    ASSERT_TRUE(command("forget-plans 0"));
    EXPECT_EQ(run(name, "", 1).state(), "success");  // it has kept a copy
    const auto here = run(name);
    EXPECT_EQ(here.code(), 4040);
    EXPECT_EQ(here.status, 404);
    EXPECT_EQ(here.state(), "fatal");
    EXPECT_EQ(run(name, "", 2).code(), 4040);
    ASSERT_TRUE(command("forget-plans all"));
    EXPECT_EQ(run(name, "", 1).code(), 4040);
    EXPECT_EQ(prepare("SELECT 1"), name);
    EXPECT_EQ(run(name).state(), "success");
}

TEST_F(lab_couchbase_query_plans, plans_end_with_the_process_of_their_node)
{
    const std::string name = prepare("SELECT 1");
    lab.crash(0);
    lab.restart(0);
    EXPECT_EQ(run(name).code(), 4040);
}

TEST_F(lab_couchbase_query_plans, plan_can_be_sent_with_the_request)
{
    const auto row = query("PREPARE SELECT RAW 5").body.at("results").at(0).as_object();
    const std::string name = row.at("name").as_string().c_str();
    const std::string plan = row.at("encoded_plan").as_string().c_str();
    ASSERT_TRUE(command("forget-plans all"));
    EXPECT_EQ(run(name, ",\"encoded_plan\":\"" + plan + "\"", 1).rows(), "5");
    EXPECT_EQ(run(name, "", 1).rows(), "5");
    EXPECT_EQ(run("x", R"(,"encoded_plan":"####")").code(), 4070);
    EXPECT_EQ(run("x", ",\"encoded_plan\":\"" + plan + R"(","query_context":"travel")").code(),
              4080);
}

TEST_F(lab_couchbase_query_plans, plan_belongs_to_its_context)
{
    const std::string context = R"(,"query_context":"default:travel._default")";
    const std::string name = prepare("SELECT RAW COUNT(*) FROM _default", context);
    EXPECT_EQ(run(name, context).rows(), "0");
    EXPECT_EQ(run(name).code(), 4040);
    EXPECT_NE(prepare("SELECT RAW 1", context), prepare("SELECT RAW 1"));
}

TEST_F(lab_couchbase_query_plans, readonly_request_does_not_run_a_plan_that_changes)
{
    put("a", "1");
    const std::string name = query("PREPARE p FROM DELETE FROM travel").state() == "success" ? "p"
                                                                                             : "";
    EXPECT_EQ(run(name, R"(,"readonly":true)").code(), 1000);
    EXPECT_EQ(stored("a"), "1");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::query_plans_test
