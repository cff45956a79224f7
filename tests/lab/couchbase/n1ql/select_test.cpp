#include "lab/couchbase/n1ql/memory_store.hpp"
#include "lab/couchbase/n1ql/run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql::select_test {
namespace {

class lab_couchbase_n1ql_select : public testing::Test {
protected:
    lab_couchbase_n1ql_select()
    {
        store.put("a", R"({"name":"KLM","country":"NL","fleet":110,"hubs":["AMS"]})");
        store.put("b", R"({"name":"Transavia","country":"NL","fleet":30})");
        store.put("c", R"({"name":"AF","country":"FR","fleet":null})");
    }
    std::string run(std::string_view statement, std::string_view parameters = "{}")
    {
        return joined(rows_of(store, statement, parameters));
    }

    memory_store store;
};

TEST_F(lab_couchbase_n1ql_select, projections_name_their_values)
{
    EXPECT_EQ(run("SELECT 1"), R"({"$1":1})");
    EXPECT_EQ(run(R"(SELECT "ruby rules" AS title)"), R"({"title":"ruby rules"})");
    EXPECT_EQ(run("SELECT $x fieldA, $1 fieldB", "{\"x\":10}"), "error 5010");
    EXPECT_EQ(run("SELECT t.name, fleet f, 1, 2 FROM travel t USE KEYS 'a'"),
              R"({"name":"KLM","f":110,"$1":1,"$2":2})");
    EXPECT_EQ(run("SELECT hubs, nothing FROM travel USE KEYS 'b'"), "{}");
    EXPECT_EQ(run("SELECT * FROM travel USE KEYS ['b']"),
              R"({"travel":{"name":"Transavia","country":"NL","fleet":30}})");
    EXPECT_EQ(run("SELECT `t`.*, 1 AS x FROM `travel` AS t USE KEYS 'c'"),
              R"({"name":"AF","country":"FR","fleet":null,"x":1})");
    EXPECT_EQ(run("SELECT RAW name FROM travel USE KEYS ['c', 'a', 'x', 7]"), R"("AF" "KLM")");
    EXPECT_EQ(run("SELECT VALUE name FROM travel LIMIT 1"), R"("KLM")");
    EXPECT_EQ(run("SELECT value FROM [{'value': 3}] AS v"), R"({"value":3})");
}

TEST_F(lab_couchbase_n1ql_select, metadata_is_that_of_the_document)
{
    EXPECT_EQ(run("SELECT META().id, META(t).cas, META().expiration FROM travel t USE KEYS 'b'"),
              R"({"id":"b","cas":102,"expiration":0})");
    EXPECT_EQ(run("SELECT RAW META().id FROM travel WHERE META().id LIKE '%'"), R"("a" "b" "c")");
    EXPECT_EQ(run("SELECT RAW META().id FROM travel WHERE META().cas = 103"), R"("c")");
}

TEST_F(lab_couchbase_n1ql_select, rows_are_filtered_sorted_and_counted_off)
{
    EXPECT_EQ(run("SELECT RAW name FROM travel WHERE country = 'NL'"), R"("KLM" "Transavia")");
    EXPECT_EQ(run("SELECT RAW name FROM travel WHERE fleet > 0"), R"("KLM" "Transavia")");
    EXPECT_EQ(run("SELECT RAW name FROM travel ORDER BY fleet"), R"("AF" "Transavia" "KLM")");
    EXPECT_EQ(run("SELECT RAW name FROM travel ORDER BY country DESC, fleet ASC"),
              R"("Transavia" "KLM" "AF")");
    EXPECT_EQ(run("SELECT name AS n FROM travel ORDER BY n LIMIT 1 OFFSET 1"), R"({"n":"KLM"})");
    EXPECT_EQ(run("SELECT RAW name FROM travel LIMIT 0"), "");
    EXPECT_EQ(run("SELECT RAW name FROM travel LIMIT $1", "[2]"), R"("KLM" "Transavia")");
    EXPECT_EQ(run("SELECT RAW name FROM travel LIMIT 'x'"), "error 5010");
    EXPECT_EQ(run("SELECT DISTINCT country FROM travel"), R"({"country":"NL"} {"country":"FR"})");
    EXPECT_EQ(run("SELECT DISTINCT RAW country FROM travel OFFSET 1"), R"("FR")");
    EXPECT_EQ(run("SELECT RAW name FROM travel t WHERE 'AMS' IN t.hubs"), R"("KLM")");
}

TEST_F(lab_couchbase_n1ql_select, aggregates_are_over_all_rows)
{
    EXPECT_EQ(run("SELECT COUNT(*) AS n, COUNT(fleet) AS f, SUM(fleet) AS s FROM travel"),
              R"({"n":3,"f":2,"s":140})");
    EXPECT_EQ(run("SELECT MIN(fleet) a, MAX(fleet) b, AVG(fleet) c FROM travel"),
              R"({"a":30,"b":110,"c":70})");
    EXPECT_EQ(run("SELECT RAW COUNT(DISTINCT country) FROM travel"), "2");
    EXPECT_EQ(run("SELECT RAW ARRAY_AGG(country) FROM travel"), R"(["NL","NL","FR"])");
    EXPECT_EQ(run("SELECT COUNT(*) + 1 FROM travel WHERE FALSE"), R"({"$1":1})");
    EXPECT_EQ(run("SELECT SUM(fleet) AS s FROM travel WHERE FALSE"), R"({"s":null})");
    EXPECT_EQ(run("SELECT name, COUNT(*) FROM travel"), "error 4210");
    EXPECT_EQ(run("SELECT 1 FROM travel WHERE COUNT(*) > 1"), "error 3000");
    EXPECT_EQ(run("SELECT SUM(COUNT(*)) FROM travel"), "error 3000");
}

TEST_F(lab_couchbase_n1ql_select, sources_can_be_values)
{
    EXPECT_EQ(run(R"(SELECT * FROM [{"tech": "C++"}, {"tech": "Ruby"}] AS data)"),
              R"({"data":{"tech":"C++"}} {"data":{"tech":"Ruby"}})");
    EXPECT_EQ(run("SELECT n FROM ARRAY_RANGE(0, 3) AS n ORDER BY n"), R"({"n":0} {"n":1} {"n":2})");
    EXPECT_EQ(run("SELECT RAW COUNT(*) FROM ARRAY_RANGE(0, 100000) AS i"), "100000");
    EXPECT_EQ(run("SELECT 1 FROM [1]"), "error 3000");
    EXPECT_EQ(run("SELECT a"), "error 3080");
}

TEST_F(lab_couchbase_n1ql_select, unknown_keyspaces_and_documents)
{
    EXPECT_EQ(run("SELECT * FROM nowhere LIMIT 1"), "error 12003");
    EXPECT_EQ(run("SELECT * FROM default:`travel`.`inventory`.`airline`"), "");
    EXPECT_EQ(run("SELECT * FROM travel USE KEYS 'x'"), "");
}

TEST_F(lab_couchbase_n1ql_select, indexes_are_listed_as_managers_ask_for_them)
{
    EXPECT_EQ(run("CREATE PRIMARY INDEX ON default:`travel` USING GSI "), "");
    EXPECT_EQ(run("CREATE PRIMARY INDEX ON travel"), "error 4300");
    EXPECT_EQ(run("CREATE PRIMARY INDEX IF NOT EXISTS ON travel"), "");
    EXPECT_EQ(run("CREATE INDEX `by_name` ON default:`travel`(`name`, a.b) WHERE fleet > 1 USING "
                  "GSI WITH {\"defer_build\":true}"),
              "");
    const std::string_view list =
        "SELECT `idx`.* FROM system:indexes AS idx WHERE (bucket_id = $bucket_name OR (bucket_id "
        "IS MISSING AND keyspace_id = $bucket_name)) AND `using` = \"gsi\" ORDER BY is_primary "
        "DESC, name ASC";
    const auto rows = rows_of(store, list, R"({"bucket_name":"travel"})");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_NE(rows[0].find(R"("name":"#primary")"), std::string::npos);
    EXPECT_NE(rows[0].find(R"("is_primary":true)"), std::string::npos);
    EXPECT_NE(rows[1].find(R"-("index_key":["`name`","(`a`.`b`)"])-"), std::string::npos);
    EXPECT_NE(rows[1].find(R"("state":"deferred")"), std::string::npos);
    EXPECT_NE(rows[1].find(R"-("condition":"(fleet > 1)")-"), std::string::npos);
    EXPECT_EQ(run("BUILD INDEX ON travel ((SELECT RAW name FROM system:indexes WHERE state = "
                  "'deferred'))"),
              "");
    EXPECT_EQ(run("SELECT RAW state FROM system:indexes WHERE name = 'by_name'"), R"("online")");
    EXPECT_EQ(run("BUILD INDEX ON travel (`by_name`, `x`)"), "error 12016");
    EXPECT_EQ(run("DROP INDEX `travel`.`by_name` USING GSI"), "");
    EXPECT_EQ(run("DROP INDEX `by_name` ON travel USING GSI"), "error 12016");
    EXPECT_EQ(run("DROP INDEX `by_name` IF EXISTS ON travel"), "");
    EXPECT_EQ(run("DROP PRIMARY INDEX ON travel USING GSI"), "");
    EXPECT_EQ(run("DROP PRIMARY INDEX ON travel USING GSI"), "error 12004");
}

TEST_F(lab_couchbase_n1ql_select, explained_statement_does_not_run)
{
    const auto rows = rows_of(store, "EXPLAIN DELETE FROM travel");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_NE(rows[0].find(R"("text":"DELETE FROM travel")"), std::string::npos);
    EXPECT_EQ(store.documents[{"travel"}].size(), 3U);
}

TEST(lab_couchbase_n1ql_signature, shows_what_is_known_of_the_columns)
{
    const auto signature = [](std::string_view text) {
        return json_text(signature_of(**parse(text)));
    };
    EXPECT_EQ(signature("SELECT * FROM a"), R"({"*":"*"})");
    EXPECT_EQ(signature("SELECT 1 AS n, 'x' s, b, COUNT(*) FROM a"),
              R"({"n":"number","s":"string","b":"json","$1":"number"})");
    EXPECT_EQ(signature("SELECT RAW b FROM a"), R"("json")");
    EXPECT_EQ(signature("DELETE FROM a"), "null");
    EXPECT_EQ(signature("DELETE FROM a RETURNING *"), R"({"*":"*"})");
    EXPECT_EQ(signature("PREPARE SELECT 1"), R"("json")");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::n1ql::select_test
