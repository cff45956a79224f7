#include "lab/couchbase/query/query_in_sim.hpp"
#include "lab/couchbase/query/query_run.hpp"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::lab::couchbase::query_waits_test {
namespace {

using namespace std::chrono_literals;

/// Consistency, time and the size of replies.
class lab_couchbase_query_waits : public query_in_sim {
protected:
    static constexpr std::string_view count = "SELECT RAW COUNT(*) FROM travel";

    /// Sends it, and does not wait.
    std::shared_ptr<dialled_port> begin(const std::string& more, std::string_view statement = count)
    {
        auto made = std::make_shared<dialled_port>();
        lab.client.start(talk_to(lab.client.world(), lab.made->address(0, "n1ql"),
                                 http_text("POST", "/query/service", body_of(statement, more)),
                                 made, seconds{60}));
        return made;
    }
    /// The token of a change as a scan vector has it.
    std::string vector_of(const std::string& key)
    {
        const std::uint16_t id = vbucket_of_key(key, 16);
        node& on = lab.made->at(lab.owner(id));
        const vbucket* const at = on.find_bucket("travel")->find_active(id);
        return "{\"travel\":{\"" + std::to_string(id) + "\":[" + std::to_string(at->high_seqno()) +
               ",\"" + std::to_string(at->uuid()) + "\"]}}";
    }
};

TEST_F(lab_couchbase_query_waits, index_that_lags_is_waited_for_if_the_request_wants_it)
{
    ASSERT_TRUE(command("index-lag all 500"));
    put("a", "1");
    EXPECT_EQ(rows(count), "0");
    const auto sure = begin(R"(,"scan_consistency":"request_plus")");
    const auto at = begin(R"(,"scan_consistency":"at_plus","scan_vectors":)" + vector_of("a"));
    lab.net.run_for(200ms);
    EXPECT_EQ(sure->bytes + at->bytes, "");
    lab.net.run_for(300ms);
    EXPECT_EQ(read_answer(*sure).rows(), "1");
    EXPECT_EQ(read_answer(*at).rows(), "1");
    EXPECT_EQ(rows(count), "1");
}

TEST_F(lab_couchbase_query_waits, index_without_lag_answers_at_once)
{
    put("a", "1");
    EXPECT_EQ(rows(count, R"(,"scan_consistency":"request_plus")"), "1");
    EXPECT_EQ(rows(count, R"(,"scan_consistency":"at_plus","scan_vectors":)" + vector_of("a")),
              "1");
}

TEST_F(lab_couchbase_query_waits, request_that_waits_too_long_times_out)
{
    ASSERT_TRUE(command("hold-index all on"));
    put("a", "1");
    const auto begun = lab.net.now();
    const auto waits = begin(R"(,"scan_consistency":"request_plus","timeout":"300ms")");
    EXPECT_TRUE(lab.pass_until([&] { return waits->over; }));
    EXPECT_GE(lab.net.now() - begun, 300ms);
    EXPECT_LE(lab.net.now() - begun, 320ms);
    const auto got = read_answer(*waits);
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.code(), 1080);
    EXPECT_EQ(got.message(), "Timeout 300ms exceeded");
    EXPECT_EQ(got.state(), "timeout");
    const auto scan = begin(R"(,"scan_consistency":"request_plus","scan_wait":"50ms")");
    EXPECT_TRUE(lab.pass_until([&] { return scan->over; }, 100ms));
    EXPECT_EQ(read_answer(*scan).code(), 12015);
    EXPECT_EQ(
        rows("SELECT RAW travel FROM travel USE KEYS 'a'", R"(,"scan_consistency":"request_plus")"),
        "1");
    EXPECT_EQ(under_way(), 0U);
}

TEST_F(lab_couchbase_query_waits, history_that_was_lost_is_waited_for_in_vain)
{
    put("a", "1");
    std::string vector = vector_of("a");
    vector.replace(vector.rfind(",\""), std::string::npos, ",\"12345\"]}}");
    const auto waits = begin(R"(,"scan_consistency":"at_plus","timeout":"1s","scan_vectors":)" +
                             vector);
    EXPECT_TRUE(lab.pass_until([&] { return waits->over; }, 2s));
    EXPECT_EQ(read_answer(*waits).code(), 1080);
}

TEST_F(lab_couchbase_query_waits, large_reply_is_sent_in_parts)
{
    const auto got = begin("", "SELECT i, 'x' AS s FROM ARRAY_RANGE(0, 50000) AS i");
    EXPECT_TRUE(lab.pass_until([&] { return got->over; }));
    const auto chunks = chunks_in(got->body());
    EXPECT_GT(chunks.size(), 20U);
    const auto read = read_answer(*got);
    EXPECT_TRUE(read.whole);
    EXPECT_EQ(read.body.at("results").as_array().size(), 50'000U);
    EXPECT_EQ(read.body.at("metrics").at("resultCount").as_int64(), 50'000);
    EXPECT_EQ(read.state(), "success");
}

TEST_F(lab_couchbase_query_waits, chunks_can_be_as_small_as_one_byte)
{
    ASSERT_TRUE(command("http-chunks all 1"));
    const auto got = begin("", "SELECT RAW 'xy'");
    EXPECT_TRUE(lab.pass_until([&] { return got->over; }));
    const auto chunks = chunks_in(got->body());
    EXPECT_TRUE(std::ranges::all_of(chunks, [](const auto& one) { return one.size() <= 1; }));
    EXPECT_EQ(read_answer(*got).rows(), R"("xy")");
}

/// Reads a little, and goes.
runtime::awaitable<void> leave_early(runtime::world& here, std::string place, std::string sent,
                                     std::shared_ptr<std::size_t> read)
{
    const std::size_t colon = place.rfind(':');
    const runtime::destination where{
        place.substr(0, colon), static_cast<std::uint16_t>(std::stoi(place.substr(colon + 1)))};
    auto connected = co_await here.connect(where, here.steady_now() + 1s);
    const runtime::stream_ptr stream = *std::move(connected);
    (void)stream->write_now({reinterpret_cast<const std::uint8_t*>(sent.data()), sent.size()});
    std::array<std::uint8_t, 4096> buffer{};
    const runtime::io_result got = co_await stream->read_some(buffer);
    *read = got.bytes;
}

TEST_F(lab_couchbase_query_waits, query_ends_when_its_client_goes_away)
{
    const auto read = std::make_shared<std::size_t>(0);
    lab.client.start(
        leave_early(lab.client.world(), lab.made->address(0, "n1ql"),
                    http_text("POST", "/query/service",
                              body_of("SELECT RAW i FROM ARRAY_RANGE(0, 1e15) AS i", "")),
                    read));
    lab.net.run_for(500ms);
    EXPECT_GT(*read, 0U);
    EXPECT_EQ(under_way(), 0U);
    ASSERT_TRUE(command("hold-index all on"));
    put("a", "1");
    const auto waits = begin(R"(,"scan_consistency":"request_plus")");
    lab.net.run_for(100ms);
    EXPECT_EQ(under_way(), 1U);
    lab.client.crash();
    lab.net.run_for(60s);
    EXPECT_EQ(under_way(), 0U);
}

TEST_F(lab_couchbase_query_waits, unreachable_data_is_an_error_until_a_replica_takes_over)
{
    for (int n = 0; n != 20; ++n)
        put("k" + std::to_string(n), "1");
    EXPECT_EQ(rows(count), "20");
    lab.settle();
    lab.crash(2);
    const auto broken = query(count);
    EXPECT_EQ(broken.code(), 12008);
    EXPECT_TRUE(broken.body.at("errors").at(0).at("retry").as_bool());
    std::string lost;
    for (int n = 0; n != 20; ++n) {
        const std::string key = "k" + std::to_string(n);
        if (lab.owner(vbucket_of_key(key, 16)) == 2)
            lost = key;
    }
    EXPECT_EQ(query("UPSERT INTO travel VALUES ('" + lost + "', 2)").code(), 12009);
    ASSERT_TRUE(lab.made->fail_over(2));
    EXPECT_EQ(rows(count), "20");
    EXPECT_EQ(rows("UPSERT INTO travel VALUES ('" + lost + "', 2) RETURNING RAW 1"), "1");
}

TEST_F(lab_couchbase_query_waits, frozen_node_answers_when_it_thaws)
{
    ASSERT_TRUE(command("freeze 0"));
    const auto waits = begin("", "SELECT 1");
    lab.net.run_for(1s);
    EXPECT_EQ(waits->bytes, "");
    ASSERT_TRUE(command("thaw 0"));
    lab.net.run_for(100ms);
    EXPECT_EQ(read_answer(*waits).rows(), R"({"$1":1})");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::query_waits_test
