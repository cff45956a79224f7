// Replies as real servers sent them, and as other SDKs test with them. They are not part of this
// project: where they are not to be found, the tests say so and are skipped.
#include "core/couchbase/rows/row_splitter.hpp"
#include "core/couchbase/service/query.hpp"
#include "core/couchbase/service/service_reply.hpp"
#include "support/verifies.hpp"

#include <boost/json/parse.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::core::couchbase::real_reply_test {
namespace {

using namespace std::chrono_literals;
using enum service_type;

std::filesystem::path folder()
{
    auto root = std::filesystem::path{__FILE__};
    for (int up = 0; up < 6; ++up)
        root = root.parent_path();
    return root / ".." / "shared" / "couchbase-data";
}

std::string text_of(const std::string& name)
{
    std::ifstream in{folder() / name};
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    EXPECT_FALSE(text.empty()) << name;
    return text;
}

struct split_reply {
    std::vector<std::string> rows = {};
    std::string metadata = {};
};

split_reply split(const std::string& text, service_type service, std::size_t piece)
{
    row_splitter splitter{rows_array_of(service)};
    split_reply found;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        splitter.feed(std::string_view{text}.substr(at, piece));
        for (std::string_view row; splitter.next(row);)
            found.rows.emplace_back(row);
    }
    EXPECT_TRUE(splitter.finish()) << std::move(splitter).fault().message();
    found.metadata = std::move(splitter).metadata();
    return found;
}

class real_reply : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!std::filesystem::is_directory(folder()))
            GTEST_SKIP() << folder() << " is not here: no reply of a real server is read";
    }
};

TEST_F(real_reply, rows_are_those_of_boost_json_however_the_reply_is_cut)
{
    struct row { const char* name; service_type service; std::size_t rows; };
    const row table[] = {
        {"gocb/beer_sample_query_dataset.json", query, 5},
        {"gocb/beer_sample_query_dataset_no_metrics.json", query, 5},
        {"gocb/enhanced_beer_sample_query_dataset.json", query, 5},
        {"gocb/prepared_beer_sample_query_dataset.json", query, 1},
        {"gocb/query_index_response.json", query, 1},
        {"gocb/beer_sample_query_error.json", query, 0},
        {"gocb/beer_sample_query_timeout.json", query, 0},
        {"gocb/beer_sample_analytics_dataset.json", analytics, 5},
        {"gocb/beer_sample_search_dataset.json", search, 5},
        {"gocb/beer_sample_views_dataset.json", views, 5},
        {"gocb/views_response_70.json", views, 4},
        {"gocbcore/search_hits_nil.json", search, 0},
        {"net-client/200-success.json", views, 4},
        {"net-client/good-response-61.json", search, 10},
        {"net-client/good-request.json", analytics, 5},
        {"net-client/query-200-success.json", query, 10},
        {"net-client/query-200-success-empty.json", query, 0},
        {"net-client/query-index-partition-response.json", query, 10},
        {"net-client/query-facets.json", search, 10},
        {"net-client/query-success.json", search, 10},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.name);
        const std::string text = text_of(r.name);
        auto whole = boost::json::parse(text).as_object();
        boost::json::array rows;
        if (auto* const found = whole[rows_array_of(r.service)].if_array())
            rows.swap(*found);
        EXPECT_EQ(rows.size(), r.rows);
        for (const std::size_t piece :
             {text.size(), std::size_t{1000}, std::size_t{7}, std::size_t{1}}) {
            const split_reply found = split(text, r.service, piece);
            ASSERT_EQ(found.rows.size(), rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i)
                EXPECT_EQ(boost::json::parse(found.rows[i]), rows[i]);
            auto rest = boost::json::parse(found.metadata).as_object();
            rest.insert_or_assign(rows_array_of(r.service), whole[rows_array_of(r.service)]);
            EXPECT_EQ(rest, whole);
        }
    }
}

struct failed_row {
    const char* id;
    const char* name;
    service_type service;
    int status;
    errc code;
    std::optional<retry_reason> reason = {};
};

TEST_F(real_reply, failure_has_the_error_and_the_reason_of_its_service)
{
    using enum retry_reason;
    constexpr auto prepared = query_prepared_statement_failure;
    constexpr auto later = analytics_temporary_failure;
    const failed_row table[] = {
        {"CR-080", "gocbcore/query_failure_cas_mismatch_71.json", query, 200, errc::cas_mismatch},
        {"CR-080", "gocbcore/query_failure_doc_exists_71.json", query, 200, errc::document_exists},
        {"CR-080", "gocbcore/query_failure_doc_not_found_71.json", query, 200,
         errc::document_not_found},
        {"CR-057", "gocbcore/query_failure_retry_true.json", query, 200, errc::generic_failure,
         service_response_code_indicated},
        {"CR-080", "gocbcore/query_rows_errors.json", query, 200, errc::cas_mismatch},
        {"CR-080", "gocbcore/query_rows_unknown_errors.json", query, 200,
         errc::authentication_failure},
        {"CR-080", "gocb/beer_sample_query_error.json", query, 400, errc::parsing_failure},
        {"CR-086", "gocb/beer_sample_query_temp_error.json", query, 503,
         errc::prepared_statement_failure, prepared},
        {"CR-080", "gocb/beer_sample_query_timeout.json", query, 200, errc::ambiguous_timeout},
        {"CR-080", "gocb/analytics_timeout.json", analytics, 200, errc::ambiguous_timeout},
        {"CR-088", "gocb/beer_sample_analytics_temp_error.json", analytics, 503,
         errc::temporary_failure, later},
        {"CR-086", "net-client/4040.json", query, 404, errc::prepared_statement_failure, prepared},
        {"CR-086", "net-client/4050.json", query, 500, errc::prepared_statement_failure, prepared},
        {"CR-086", "net-client/4070.json", query, 500, errc::prepared_statement_failure, prepared},
        {"CR-086", "net-client/query-notfound-response-404.json", query, 404,
         errc::planning_failure},
        {"CR-080", "net-client/query-badrequest-error-response-400.json", query, 400,
         errc::planning_failure},
        {"CR-080", "net-client/query-service-error-response-503.json", query, 503,
         errc::internal_server_failure},
        {"CR-080", "net-client/query-create-primary-index-exists-5000.json", query, 500,
         errc::index_exists},
        {"CR-080", "net-client/query-create-index-500.json", query, 500,
         errc::internal_server_failure},
        {"CR-080", "net-client/query-200-errors-after-some-results.json", query, 200,
         errc::generic_failure},
        {"CR-080", "net-client/query-timeout-response-200.json", query, 200,
         errc::ambiguous_timeout},
        {"CR-080", "net-client/failure_cas_mismatch_reason.json", query, 200, errc::cas_mismatch},
        {"CR-080", "net-client/failure_kv_exists.json", query, 200, errc::document_exists},
        {"CR-080", "net-client/failure_kv_notfound.json", query, 200, errc::document_not_found},
        {"CR-088", "net-client/temp-23000.json", analytics, 503, errc::temporary_failure, later},
        {"CR-088", "net-client/temp-23003.json", analytics, 503, errc::temporary_failure, later},
        {"CR-088", "net-client/temp-23007.json", analytics, 503, errc::job_queue_full, later},
        {"CR-080", "net-client/syntax-24000.json", analytics, 400, errc::parsing_failure},
        {"CR-080", "net-client/timeout.json", analytics, 200, errc::ambiguous_timeout},
        {"CR-080", "net-client/query-error-400.json", search, 400, errc::index_not_found},
        {"CR-080", "net-client/query-error-index-not-found-400.json", search, 400,
         errc::index_not_found},
        {"CR-080", "net-client/1-mismatching-consistency.json", search, 412,
         errc::consistency_mismatch},
        {"CR-092", "net-client/404-designdoc-notfound.json", views, 404, errc::view_not_found},
        {"CR-092", "net-client/404-view-notfound.json", views, 404, errc::view_not_found},
        {"CR-093", "net-client/404-view-notfound.json", views, 500, errc::internal_server_failure},
    };
    for (const failed_row& r : table) {
        SCOPED_TRACE(r.name);
        VERIFIES_ROW(r.id);
        const std::string text = text_of(r.name);
        const std::string body = r.status == 200 ? split(text, r.service, 100).metadata : text;
        const auto failed = failure_in({r.service, r.status, body});
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->code, r.code);
        EXPECT_EQ(failed->reason, r.reason);
    }
}

TEST_F(real_reply, text_of_5000_may_be_quoted)
{
    VERIFIES("CR-087");
    const auto failed = failure_in({query, 500, text_of("net-client/5000.json")});
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, retry_reason::query_index_not_found);
    EXPECT_EQ(failed->code, errc::index_not_found);
}

TEST_F(real_reply, metadata_is_read)
{
    const auto of_query = read_query_metadata(
        split(text_of("gocb/enhanced_beer_sample_query_dataset.json"), query, 99).metadata);
    EXPECT_EQ(of_query.request_id, "e36e0202-7f4f-4083-9b73-993459353544");
    EXPECT_EQ(of_query.status, holdfast::couchbase::query_status::success);
    EXPECT_EQ(of_query.metrics.elapsed_time, 9'649'150ns);
    EXPECT_EQ(of_query.metrics.result_size, 4348u);
    EXPECT_EQ(of_query.signature.text(), "{\n    \"*\": \"*\"\n  }");
    const auto of_search = read_search_metadata(
        split(text_of("gocbcore/search_hits_nil.json"), search, 99).metadata);
    EXPECT_EQ(of_search.failed_partitions, 6u);
    EXPECT_EQ(of_search.errors.size(), 6u);
    EXPECT_EQ(of_search.errors.front().message, "context deadline exceeded");
    EXPECT_TRUE(of_search.facets.empty());
    const auto of_view = read_view_metadata(
        split(text_of("gocb/beer_sample_views_dataset.json"), views, 99).metadata);
    EXPECT_FALSE(of_view.debug.empty());
    EXPECT_EQ(of_view.total_rows, 5u);
    const auto of_analytics = read_query_metadata(
        split(text_of("gocb/beer_sample_analytics_dataset.json"), analytics, 99).metadata);
    EXPECT_EQ(of_analytics.metrics.processed_objects, 26u);
}

TEST_F(real_reply, plans_are_found)
{
    const auto enhanced = plan_in_metadata(
        split(text_of("gocb/enhanced_beer_sample_query_dataset.json"), query, 99).metadata);
    ASSERT_TRUE(enhanced);
    EXPECT_EQ(enhanced->name, "[127.0.0.1:8091]adbf974b-9aed-5d37-9c89-3c86b69f9bd4");
    const auto rows =
        split(text_of("gocb/prepared_beer_sample_query_dataset.json"), query, 99).rows;
    ASSERT_EQ(rows.size(), 1u);
    const auto plan = plan_in_row(rows.front());
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->name.empty());
    EXPECT_TRUE(plan->encoded_plan.starts_with("H4sI"));
}

}  // namespace
}  // namespace holdfast::core::couchbase::real_reply_test
