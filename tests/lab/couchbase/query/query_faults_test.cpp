#include "lab/couchbase/query/query_in_sim.hpp"
#include "lab/couchbase/query/query_run.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::query_faults_test {
namespace {

/// Faults of the query and the analytics service, as /lab/faults sets them.
class lab_couchbase_query_faults : public query_in_sim {
protected:
    void set(const std::string& fault)
    {
        const auto done = command("fault f " + fault);
        EXPECT_TRUE(done) << done.error().message();
    }
    static constexpr std::string_view ten = "SELECT RAW i FROM ARRAY_RANGE(0, 10) AS i";
};

TEST_F(lab_couchbase_query_faults, errors_come_so_often_instead_of_the_query)
{
    put("a", "1");
    struct {
        std::int64_t code;
        int status;
        const char* text;
    } const table[] = {
        {4040, 404, "No such prepared statement"},
        {4041, 500, "not valid any more"},
        {4050, 500, "Unrecognizable prepared statement"},
        {4070, 500, "Unable to decode"},
        {5000, 500, "Internal error"},
    };
    for (const auto& row : table) {
        set(R"({"service":"query","error_code":)" + std::to_string(row.code) + R"(,"times":2})");
        for (int n = 0; n != 2; ++n) {
            const auto got = query("DELETE FROM travel", R"(,"client_context_id":"c")");
            EXPECT_EQ(got.code(), row.code);
            EXPECT_EQ(got.status, row.status);
            EXPECT_EQ(got.text_of("clientContextID"), "c");
            EXPECT_NE(got.message().find(row.text), std::string::npos) << got.message();
        }
        EXPECT_EQ(rows("SELECT RAW COUNT(*) FROM travel"), "1");
    }
}

TEST_F(lab_couchbase_query_faults, text_and_retry_are_as_wanted)
{
    set(R"({"service":"n1ql","error_code":5000,"error_text":"queryport.indexNotFound","times":1})");
    EXPECT_EQ(query("SELECT 1").message(), "queryport.indexNotFound");
    set(R"({"service":"n1ql","error_code":12345,"retry":true})");
    const auto got = query("SELECT 1");
    EXPECT_EQ(got.code(), 12345);
    EXPECT_TRUE(got.body.at("errors").at(0).at("retry").as_bool());
    set(R"({"service":"n1ql","contains":"SELECT 2","error_code":5000})");
    EXPECT_EQ(query("SELECT 1").state(), "success");
    EXPECT_EQ(query("SELECT 2").code(), 5000);
    EXPECT_EQ(analyze("SELECT 2").state(), "success");
}

TEST_F(lab_couchbase_query_faults, error_comes_after_some_rows)
{
    set(R"({"service":"query","error_code":5000,"after_rows":3})");
    const auto got = query(ten);
    EXPECT_EQ(got.status, 200);
    EXPECT_TRUE(got.whole);
    EXPECT_EQ(got.rows(), "0 1 2");
    EXPECT_EQ(got.code(), 5000);
    EXPECT_EQ(got.state(), "errors");
    set(R"({"service":"query","error_code":5000,"after_rows":0})");
    EXPECT_EQ(query(ten).status, 500);
    EXPECT_EQ(query(ten).rows(), "");
}

TEST_F(lab_couchbase_query_faults, connection_is_cut_after_some_rows)
{
    set(R"({"service":"query","cut_after_rows":3})");
    const auto got = query(ten);
    EXPECT_EQ(got.status, 200);
    EXPECT_FALSE(got.whole);
    EXPECT_TRUE(got.text.ends_with("[\n0,\n1,\n2")) << got.text;
    EXPECT_EQ(query("SELECT 1").state(), "success");
}

TEST_F(lab_couchbase_query_faults, parts_end_inside_of_characters_and_escapes)
{
    const std::string_view wide = "SELECT RAW '\xc3\xa9\xe2\x82\xac'";
    set(R"({"service":"query","split":"utf8"})");
    const auto asked = ask(lab, lab.made->address(0, "n1ql"), "POST", "/query/service",
                           body_of(wide, ""));
    const auto chunks = chunks_in(asked->body());
    ASSERT_EQ(chunks.size(), 4U);
    EXPECT_TRUE(chunks[0].ends_with("\xc3") && chunks[1] == "\xa9\xe2");
    EXPECT_EQ(read_answer(*asked).rows(), "\"\xc3\xa9\xe2\x82\xac\"");
    set(R"({"service":"query","split":"escape"})");
    const auto escaped = ask(lab, lab.made->address(0, "n1ql"), "POST", "/query/service",
                             body_of("SELECT RAW '\"x\\n'", ""));
    EXPECT_EQ(chunks_in(escaped->body()).size(), 4U);
    EXPECT_EQ(read_answer(*escaped).rows(), R"("\"x\n")");
}

TEST_F(lab_couchbase_query_faults, analytics_has_errors_of_its_own)
{
    struct {
        std::int64_t code;
        int status;
        const char* text;
    } const table[] = {
        {23000, 503, "temporarily unavailable"},
        {23003, 503, "during rebalance"},
        {23007, 503, "Job queue is full"},
        {23001, 503, ""},
        {24000, 400, ""},
    };
    for (const auto& row : table) {
        set(R"({"service":"analytics","error_code":)" + std::to_string(row.code) +
            R"(,"times":1})");
        const auto got = analyze("SELECT 1");
        EXPECT_EQ(got.code(), row.code);
        EXPECT_EQ(got.status, row.status);
        EXPECT_NE(got.message().find(row.text), std::string::npos) << got.message();
        EXPECT_EQ(analyze("SELECT 1").state(), "success");
    }
}

TEST_F(lab_couchbase_query_faults, faults_that_make_no_sense_are_refused)
{
    for (const char* const fault :
         {R"({"error_code":5000})", R"({"service":"query","after_rows":1})",
          R"({"service":"query","split":"x"})", R"({"service":"query","error_code":-1})"})
        EXPECT_FALSE(command("fault f " + std::string{fault})) << fault;
}

}  // namespace
}  // namespace holdfast::lab::couchbase::query_faults_test
