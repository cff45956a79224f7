#include "lab/couchbase/n1ql/parser.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/tokens.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql::parser_test {
namespace {

std::string refusal(std::string_view text, dialect in = dialect::query)
{
    const auto parsed = parse(text, in);
    if (parsed)
        return {};
    EXPECT_EQ(code_of(parsed.error()), 3000);
    return parsed.error().message();
}

TEST(lab_couchbase_n1ql_parser, what_is_no_statement_is_a_syntax_error_with_its_place)
{
    EXPECT_EQ(refusal("SLECT 1"), "syntax error - line 1, column 1, near '', at: SLECT");
    EXPECT_EQ(refusal("SELECT\n  1 FROM"),
              "syntax error - line 2, column 9, near 'SELECT\n  1 FROM', at: end of input");
    EXPECT_EQ(refusal("SELECT 1 2"), "syntax error - line 1, column 10, near 'SELECT 1 ', at: 2");
    for (const std::string_view one : {"",
                                       "I'm not n1ql",
                                       "SELECT",
                                       "SELECT 1,",
                                       "SELECT (1",
                                       "SELECT [1",
                                       "SELECT {'a'}",
                                       "SELECT {'a' 1}",
                                       "SELECT 'a",
                                       "SELECT \"\\x\"",
                                       "SELECT `",
                                       "SELECT ``",
                                       "SELECT $",
                                       "SELECT 1 /*",
                                       "SELECT 12ab",
                                       "SELECT #",
                                       "SELECT a.",
                                       "SELECT a.1",
                                       "SELECT NOTHING(1)",
                                       "SELECT LOWER()",
                                       "SELECT LOWER(1, 2)",
                                       "SELECT 1 FROM",
                                       "SELECT 1 FROM a JOIN b",
                                       "SELECT 1 FROM a, b",
                                       "SELECT 1 FROM a GROUP BY b",
                                       "SELECT (SELECT 1)",
                                       "SELECT 1 UNION SELECT 2",
                                       "SELECT 1 FROM a USE KEYS",
                                       "SELECT 1 ORDER x",
                                       "SELECT RAW 1, 2",
                                       "SELECT $0",
                                       "SELECT $5000",
                                       "SELECT 1 BETWEEN 2",
                                       "SELECT 1 IS 2",
                                       "INSERT INTO a",
                                       "INSERT INTO a VALUES (1)",
                                       "INSERT INTO a SELECT 1",
                                       "INSERT INTO a (VALUE, KEY) VALUES (1, 2)",
                                       "UPDATE a",
                                       "UPDATE a SET b",
                                       "UPDATE a SET = 1",
                                       "DELETE a",
                                       "PREPARE",
                                       "PREPARE PREPARE SELECT 1",
                                       "EXPLAIN",
                                       "EXECUTE",
                                       "CREATE INDEX ON a(b)",
                                       "CREATE INDEX i ON a",
                                       "CREATE INDEX i ON a()",
                                       "CREATE PRIMARY INDEX ON a USING X",
                                       "DROP INDEX i",
                                       "BUILD INDEX ON a",
                                       "BUILD INDEX ON a ()",
                                       "CREATE DATASET a ON b",
                                       "SELECT 1; SELECT 2",
                                       "SELECT 1e999",
                                       "SELECT \xff\xfe",
                                       "SELECT '\xff'"}) {
        SCOPED_TRACE(one);
        EXPECT_FALSE(refusal(one).empty());
    }
}

TEST(lab_couchbase_n1ql_parser, statements_of_sdks_are_read)
{
    for (const std::string_view one :
         {"SELECT 1;", "select distinct raw a from b", "SELECT `select` FROM `from`",
          "SELECT * FROM default:`a`.`b`.`c` AS x WHERE x.`order`[0].y = 1",
          "SELECT a.* FROM b USE INDEX (`x` USING GSI) WHERE a",
          "SELECT META(a).id FROM a ORDER BY META().cas DESC LIMIT 1 OFFSET 2",
          "UPDATE travel AS b USE KEYS '{}' SET b.foo = 43", "PREPARE plan FROM SELECT 1",
          "PREPARE FORCE plan AS DELETE FROM a", "EXECUTE plan", "EXECUTE 'plan' USING [1]",
          "CREATE PRIMARY INDEX `x` ON default:`a` USING GSI ",
          "CREATE PRIMARY INDEX  ON default:`a`.`b`.`c` USING GSI WITH {\"num_replica\":1}",
          "BUILD INDEX ON default:`a` (`b`,`c`)", "DROP PRIMARY INDEX ON a USING GSI"}) {
        SCOPED_TRACE(one);
        EXPECT_EQ(refusal(one), "");
    }
}

TEST(lab_couchbase_n1ql_parser, analytics_has_datasets)
{
    for (const std::string_view one :
         {"CREATE DATAVERSE `a`.`test-scope` IF NOT EXISTS", "DROP DATAVERSE `a` IF EXISTS",
          "CREATE DATASET IF NOT EXISTS `Default`.`d` ON `travel`",
          "DROP DATASET `Default`.`d` IF EXISTS",
          "CREATE INDEX `i` ON `a`.`b` (`x`:string,`y`:int)", "DROP INDEX `a`.`b`.`i` IF EXISTS",
          "CONNECT LINK `Default`.Local WITH {\"force\": true}",
          "DISCONNECT LINK `Default`.`Local`", "ALTER COLLECTION `a`.`b`.`c` ENABLE ANALYTICS",
          "SELECT VALUE 1"}) {
        SCOPED_TRACE(one);
        EXPECT_EQ(refusal(one, dialect::analytics), "");
    }
    const auto made = parse("DROP INDEX a.b.i IF EXISTS", dialect::analytics);
    const auto& read = std::get<dataset_statement>((*made)->is);
    EXPECT_EQ(read.what, dataset_statement::verb::drop_index);
    EXPECT_EQ(read.name, (std::vector<std::string>{"a", "b", "i"}));
    EXPECT_TRUE(read.if_exists);
}

TEST(lab_couchbase_n1ql_parser, depth_and_length_have_limits)
{
    const auto nested = [](std::size_t depth) {
        return "SELECT " + std::string(depth, '(') + "1" + std::string(depth, ')');
    };
    EXPECT_EQ(refusal(nested(deepest_expression - 1)), "");
    EXPECT_NE(refusal(nested(90'000)).find("too deeply"), std::string::npos);
    std::string nots = "SELECT ";
    std::string sum = "SELECT 1";
    std::string ands = "SELECT TRUE";
    std::string equals = "SELECT 1";
    for (int n = 0; n != 20'000; ++n) {
        nots += "NOT ";
        sum += " + 1";
        ands += " AND TRUE";
        equals += " = 1";
    }
    EXPECT_NE(refusal(nots + "TRUE").find("too deeply"), std::string::npos);
    EXPECT_EQ(refusal(sum), "");
    EXPECT_EQ(refusal(ands), "");
    EXPECT_NE(refusal(equals).find("too many comparisons"), std::string::npos);
    EXPECT_NE(refusal(std::string(longest_statement + 1, ' ')).find("1 MB"), std::string::npos);
}

TEST(lab_couchbase_n1ql_parser, text_of_a_plan_is_the_statement_alone)
{
    const auto made = parse("PREPARE p FROM\n  SELECT 1 ;");
    EXPECT_EQ((*made)->text, "SELECT 1");
    const auto& read = std::get<prepare_statement>((*made)->is);
    EXPECT_EQ(read.name, "p");
    EXPECT_EQ(read.of->text, "SELECT 1");
    EXPECT_TRUE((*made)->only_reads());
    EXPECT_FALSE((*parse("DELETE FROM a"))->only_reads());
}

TEST(lab_couchbase_n1ql_parser, contexts_are_names_of_keyspaces)
{
    const auto whole = parse_context("default:`travel-sample`.`inventory`");
    EXPECT_EQ(whole->space, "default");
    EXPECT_EQ(whole->parts, (std::vector<std::string>{"travel-sample", "inventory"}));
    EXPECT_EQ(parse_context("travel.inventory")->parts.size(), 2U);
    EXPECT_FALSE(parse_context("travel..x"));
    EXPECT_FALSE(parse_context(""));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::n1ql::parser_test
