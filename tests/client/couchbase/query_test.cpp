// Queries from the public call to the bytes of a scripted service, and back.
#include "client/couchbase/lab_services_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <string>

namespace holdfast::couchbase_query_test {

struct airline {
    std::string name;
    int fleet = 0;
    friend bool operator==(const airline&, const airline&) = default;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet))

namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using lab::couchbase::http_reply;
using proof::answers_in_order;
using proof::lab_services_scene;
using proof::reply_of;
using proof::reply_with_code;
using proof::reply_with_rows;
using proof::use_awaitable;

class couchbase_query : public ::testing::Test {
protected:
    couchbase_query() { scene.connect_and_wait(); }

    lab_services_scene scene{{.nodes = 2}};
};

TEST_F(couchbase_query, nothing_is_sent_before_the_first_row_is_asked_for)
{
    scene.answer("n1ql", reply_with_rows({R"({"name":"KLM","fleet":110})"}));
    auto rows = scene.client->query("SELECT 1");
    scene.simulation.run_for(1s);
    EXPECT_EQ(scene.asked("n1ql"), 0u);
    const auto one = scene.run(rows.next<airline>(use_awaitable));
    ASSERT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(**one->outcome, (airline{"KLM", 110}));
    EXPECT_EQ(scene.asked("n1ql"), 1u);
    const auto end = scene.run(rows.next<airline>(use_awaitable));
    ASSERT_TRUE(end->good()) << end->explain();
    EXPECT_FALSE(**end->outcome);
    EXPECT_EQ(rows.metadata().request_id, "r1");
    EXPECT_EQ(rows.metadata().status, couchbase::query_status::success);
    EXPECT_EQ(rows.metadata().metrics.result_count, 1u);
    EXPECT_EQ(rows.metadata().signature.text(), "\"*\"");
}

TEST_F(couchbase_query, options_and_parameters_are_in_the_body)
{
    scene.answer("n1ql", reply_with_rows({}));
    const couchbase::raw_option raw[] = {{"use_cbo", "false"}};
    const auto done = scene.query("SELECT $1", {.timeout = 3s,
                                                .parameters = couchbase::positional("NL", 50),
                                                .readonly = true,
                                                .client_context_id = "mine",
                                                .raw = raw});
    ASSERT_TRUE(done->good()) << done->explain();
    const auto seen = scene.seen("n1ql");
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].what.method, "POST");
    EXPECT_EQ(seen[0].what.path, "/query/service");
    EXPECT_EQ(seen[0].what.content_type, "application/json");
    EXPECT_EQ(seen[0].member("statement"), R"("SELECT $1")");
    EXPECT_EQ(seen[0].member("args"), R"(["NL",50])");
    EXPECT_EQ(seen[0].member("readonly"), "true");
    EXPECT_EQ(seen[0].member("use_cbo"), "false");
    EXPECT_EQ(seen[0].member("client_context_id"), R"("mine")");
    EXPECT_NE(seen[0].member("timeout"), "");
}

TEST_F(couchbase_query, a_scope_names_itself_as_the_context)
{
    scene.answer("n1ql", reply_with_rows({"1"}));
    auto rows = (*scene.client)["travel"]["inventory"].query(
        "SELECT 1", {.parameters = couchbase::named("country", "NL")});
    const auto done = scene.run(rows.all<int>(use_awaitable));
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_EQ(**done->outcome, std::vector<int>{1});
    EXPECT_EQ(scene.seen("n1ql")[0].member("query_context"), R"("default:`travel`.`inventory`")");
    EXPECT_EQ(scene.seen("n1ql")[0].member("$country"), R"("NL")");
}

TEST_F(couchbase_query, rows_come_one_by_one_in_batches_and_all_at_once)
{
    std::vector<std::string> numbers;
    for (int n = 0; n != 1'000; ++n)
        numbers.push_back(std::to_string(n));
    scene.answer("n1ql", reply_with_rows(numbers));
    const auto by_batches = [](couchbase::query_rows rows) -> runtime::awaitable<int> {
        int sum = 0;
        for (bool more = co_await rows.next_batch(); more; more = co_await rows.next_batch()) {
            for (const std::string_view one : rows.batch())
                sum += std::stoi(std::string{one});
        }
        co_return sum;
    };
    EXPECT_EQ(scene.wait_for(by_batches(scene.client->query("x"))), 999 * 1'000 / 2);
    const auto mixed = [](couchbase::query_rows rows) -> runtime::awaitable<int> {
        int sum = *co_await rows.next<int>();
        (void)co_await rows.next_batch();
        const auto batch = rows.batch();
        for (auto one = batch.begin(); one != batch.end() && sum < 100; ++one)
            sum += std::stoi(std::string{*one});
        const auto rest = co_await rows.all<int>();
        co_return sum + rest.back();
    };
    EXPECT_GE(scene.wait_for(mixed(scene.client->query("x"))), 999 + 100);
    const auto done = scene.query("x");
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_EQ((*done->outcome)->size(), 1'000u);
}

TEST_F(couchbase_query, a_statement_without_rows_gives_its_metadata)
{
    scene.answer("n1ql",
                 reply_with_rows({}, R"(,"warnings":[{"code":7,"msg":"slow"}],"profile":{"a":1})"));
    auto rows = scene.client->query("UPDATE x SET y = 1");
    const auto done = scene.run(rows.run(use_awaitable));
    ASSERT_TRUE(done->good()) << done->explain();
    ASSERT_EQ((*done->outcome)->warnings.size(), 1u);
    EXPECT_EQ((*done->outcome)->warnings[0].message, "slow");
    EXPECT_EQ((*done->outcome)->profile.text(), R"({"a":1})");
}

TEST_F(couchbase_query, a_row_of_another_shape_names_the_type_and_leaves_the_next_one)
{
    scene.answer("n1ql", reply_with_rows({R"("text")", R"({"name":"AF","fleet":1})"}));
    auto rows = scene.client->query("SELECT 1");
    const auto bad = scene.run(rows.next<airline>(use_awaitable));
    ASSERT_FALSE(bad->good());
    EXPECT_EQ(bad->code(), errc::decoding_failure);
    EXPECT_NE(bad->error().summary().find("airline"), std::string::npos) << bad->explain();
    const auto good = scene.run(rows.next<airline>(use_awaitable));
    ASSERT_TRUE(good->good()) << good->explain();
    EXPECT_EQ(**good->outcome, (airline{"AF", 1}));
}

TEST_F(couchbase_query, errors_have_the_code_the_statement_and_the_server)
{
    scene.answer("n1ql", reply_with_code(3000, "syntax error"));
    const auto failed = scene.query("SELEC 1", {.client_context_id = "mine"});
    ASSERT_FALSE(failed->good());
    EXPECT_EQ(failed->code(), errc::parsing_failure);
    EXPECT_NE(failed->error().message().find("3000"), std::string::npos);
    EXPECT_EQ(failed->error().context("statement"), "SELEC 1");
    EXPECT_EQ(failed->error().context("client_context_id"), "mine");
    EXPECT_NE(failed->error().context("server"), "");
    ASSERT_EQ(failed->error().history().size(), 1u);
    EXPECT_EQ(failed->error().history()[0].phase, dispatch_phase::answered);
    EXPECT_EQ(scene.asked("n1ql"), 1u);
}

TEST_F(couchbase_query, what_cannot_be_sent_fails_at_the_first_row)
{
    const auto empty = scene.query("");
    EXPECT_EQ(empty->code(), errc::invalid_argument) << empty->explain();
    const auto bad = scene.query("SELECT $1", {.parameters = couchbase::positional(1.0 / 0.0)});
    EXPECT_EQ(bad->code(), errc::encoding_failure) << bad->explain();
    auto rows = scene.client->query("");
    EXPECT_FALSE(scene.run(rows.next(use_awaitable))->good());
    const auto after = scene.run(rows.next(use_awaitable));
    ASSERT_TRUE(after->good()) << "after the error there is nothing more";
    EXPECT_FALSE(**after->outcome);
    EXPECT_EQ(scene.asked("n1ql"), 0u);
}

TEST_F(couchbase_query, the_time_of_the_server_is_what_is_left_of_the_whole)
{
    scene.answer("n1ql",
                 answers_in_order({reply_with_code(4050, "outdated"), reply_with_rows({"1"})}));
    const auto done = scene.query("SELECT 1", {.timeout = 5s, .prepared = true});
    ASSERT_TRUE(done->good()) << done->explain();
    const auto seen = scene.seen("n1ql");
    ASSERT_EQ(seen.size(), 2u);
    const auto milliseconds = [](const std::string& json) { return std::stoi(json.substr(1)); };
    EXPECT_LE(milliseconds(seen[0].member("timeout")), 5'000);
    EXPECT_LT(milliseconds(seen[1].member("timeout")), milliseconds(seen[0].member("timeout")));
}

TEST_F(couchbase_query, a_deadline_ends_a_server_that_is_silent)
{
    scene.answer("n1ql", [](const auto&) {
        http_reply never;
        never.later = [] { return std::optional<http_reply>{}; };
        return never;
    });
    const auto read = scene.query("SELECT 1", {.timeout = 2s, .readonly = true});
    EXPECT_EQ(read->code(), errc::unambiguous_timeout) << read->explain();
    EXPECT_EQ(read->took(), 2s);
    const auto change = scene.query("UPDATE x SET y = 1", {.timeout = 2s});
    EXPECT_EQ(change->code(), errc::ambiguous_timeout) << change->explain();
    EXPECT_TRUE(change->error().history().back().possibly_applied);
}

TEST_F(couchbase_query, closing_the_cluster_ends_rows_that_wait)
{
    scene.answer("n1ql", [](const auto&) {
        http_reply never;
        never.later = [] { return std::optional<http_reply>{}; };
        return never;
    });
    auto rows = scene.client->query("SELECT 1");
    const auto open = scene.start(rows.next(use_awaitable));
    scene.simulation.run_for(100ms);
    const auto close = [](couchbase::cluster what) -> runtime::awaitable<int> {
        co_await what.close();
        co_return 1;
    };
    ASSERT_TRUE(scene.wait_for(close(*scene.client)));
    ASSERT_TRUE(scene.finish([&] { return open->done(); }));
    EXPECT_EQ(open->code(), errc::closed) << open->explain();
    EXPECT_EQ(scene.query("SELECT 1")->code(), errc::closed);
}

/// A reply that goes on for ever, a row at a time.
http_reply endless(const std::shared_ptr<int>& parts, std::chrono::milliseconds pause)
{
    http_reply made = reply_of(200, R"({"results":[0)");
    made.pause = pause;
    made.more = [parts, pause, rests = true]() mutable -> std::optional<std::string> {
        rests = !rests && pause.count() != 0;
        if (rests)
            return "";
        ++*parts;
        return ",1";
    };
    return made;
}

TEST_F(couchbase_query, rows_that_are_not_read_wait_at_the_server)
{
    const auto parts = std::make_shared<int>(0);
    scene.answer("n1ql", endless(parts, 0ms));
    auto rows = scene.client->query("SELECT 1");
    const auto one = scene.run(rows.next<int>(use_awaitable));
    ASSERT_TRUE(one->good()) << one->explain();
    scene.simulation.run_for(1s);
    const int before = *parts;
    scene.simulation.run_for(10s);
    EXPECT_EQ(*parts, before);
    EXPECT_LT(*parts * 2, 1'000'000) << "bytes of rows";
    EXPECT_GT(*parts, 0);
}

TEST_F(couchbase_query, rows_that_go_before_their_end_stop_the_server)
{
    const auto parts = std::make_shared<int>(0);
    scene.answer("n1ql", endless(parts, 10ms));
    {
        auto rows = scene.client->query("SELECT 1");
        const auto one = scene.run(rows.next<int>(use_awaitable));
        ASSERT_TRUE(one->good()) << one->explain();
        scene.simulation.run_for(1s);
        EXPECT_GT(*parts, 50) << "the server goes on meanwhile";
    }
    scene.simulation.run_for(100ms);
    const int before = *parts;
    scene.simulation.run_for(1s);
    EXPECT_EQ(*parts, before);
    auto rows = scene.client->query("SELECT 1");
    ASSERT_TRUE(scene.run(rows.next<int>(use_awaitable))->good());
    rows.close();
    scene.simulation.run_for(100ms);
    const int at_close = *parts;
    const auto end = scene.run(rows.next<int>(use_awaitable));
    ASSERT_TRUE(end->good()) << end->explain();
    EXPECT_FALSE(**end->outcome);
    scene.simulation.run_for(1s);
    EXPECT_EQ(*parts, at_close);
}

TEST_F(couchbase_query, cancelling_a_row_that_is_awaited_ends_the_rows)
{
    const auto parts = std::make_shared<int>(0);
    scene.answer("n1ql", [](const auto&) {
        http_reply never;
        never.later = [] { return std::optional<http_reply>{}; };
        return never;
    });
    auto rows = scene.client->query("SELECT 1");
    boost::asio::cancellation_signal stop;
    std::optional<result<std::optional<int>>> outcome;
    rows.next<int>(boost::asio::bind_cancellation_slot(
        stop.slot(), [&](result<std::optional<int>> got) { outcome.emplace(std::move(got)); }));
    scene.simulation.run_for(100ms);
    EXPECT_FALSE(outcome);
    stop.emit(boost::asio::cancellation_type::terminal);
    scene.simulation.run_for(100ms);
    ASSERT_TRUE(outcome && !*outcome);
    EXPECT_EQ(outcome->error().code(), errc::request_canceled) << outcome->error().explain();
    EXPECT_TRUE(outcome->error().history().back().possibly_applied) << "it was sent";
    const auto end = scene.run(rows.next<int>(use_awaitable));
    ASSERT_TRUE(end->good()) << end->explain();
    EXPECT_FALSE(**end->outcome);
    for (const auto& one : scene.client->diagnostics().services)
        EXPECT_EQ(one.in_use, 0u) << one.server.value();
}

TEST_F(couchbase_query, completion_tokens_get_results)
{
    scene.answer("n1ql", reply_with_rows({"1", "2"}));
    auto rows = scene.client->query("SELECT 1");
    std::optional<result<std::vector<int>>> outcome;
    rows.all<int>([&](result<std::vector<int>> got) { outcome.emplace(std::move(got)); });
    EXPECT_TRUE(scene.finish([&] { return outcome.has_value(); }));
    ASSERT_TRUE(*outcome) << outcome->error().explain();
    EXPECT_EQ(**outcome, (std::vector<int>{1, 2}));
    std::optional<result<couchbase::query_metadata>> ended;
    auto more = scene.client->query("SELECT 1");
    more.run([&](result<couchbase::query_metadata> got) { ended.emplace(std::move(got)); });
    EXPECT_TRUE(scene.finish([&] { return ended.has_value(); }));
    ASSERT_TRUE(*ended);
    EXPECT_EQ((*ended)->request_id, "r1");
}

TEST_F(couchbase_query, listeners_and_log_hear_of_retries)
{
    struct heard final : couchbase::event_listener {
        void on(const couchbase::request_retried& what) override { all.push_back(what); }
        std::vector<couchbase::request_retried> all;
    };
    const auto events = std::make_shared<heard>();
    couchbase::cluster_options options;
    options.listeners = {events};
    scene.connect_and_wait(options);
    scene.answer("n1ql", proof::answers_in_order(
                             {reply_with_code(4050, "outdated"), reply_with_rows({"1"})}));
    ASSERT_TRUE(scene.query("SELECT 1")->good());
    ASSERT_EQ(events->all.size(), 1u);
    EXPECT_EQ(events->all[0].operation, "query");
    EXPECT_EQ(events->all[0].reason, couchbase::retry_reason::query_prepared_statement_failure);
    EXPECT_TRUE(events->all[0].scheduled);
    EXPECT_NE(events->all[0].server.value(), "");
}

}  // namespace
}  // namespace holdfast::couchbase_query_test
