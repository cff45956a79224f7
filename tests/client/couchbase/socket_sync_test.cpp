// The blocking client under the same faults: it has the same retries, errors and durations.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace holdfast::couchbase_socket_sync_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_status;
using couchbase::errc;
using proof::answer_with;
using proof::best_of;
using proof::reasons_of;
namespace cb = couchbase;

constexpr int runs = 5;

/// How long a call takes that must fail, and its error.
struct timed_failure {
    error why;
    duration took;
};

class couchbase_socket_sync : public ::testing::Test {
protected:
    static cb::cluster_options login(const std::string& password = "lovelace")
    {
        cb::cluster_options options;
        options.authenticator = proof::socket_scene::login(password);
        return options;
    }
    template <class Call>
    static timed_failure fail(Call call)
    {
        const auto began = std::chrono::steady_clock::now();
        const auto got = call();
        const auto took = std::chrono::steady_clock::now() - began;
        if (got)
            return {error{errc::generic_failure, "it has succeeded"}, took};
        return {got.error(), took};
    }
    void SetUp() override { documents.upsert("warm", cb::raw_json{"{}"}); }

    proof::socket_scene scene{{.nodes = 2}};
    cb::sync::cluster db{scene.lab.uri(), login()};
    cb::sync::collection documents = db["travel"].default_collection();
    const cb::raw_json content{R"({"n":1})"};
};

TEST_F(couchbase_socket_sync, wrong_password_missing_bucket_and_unknown_collection_fail_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-039");
    VERIFIES_BY_TRAFFIC("CR-041");
    VERIFIES_BY_TRAFFIC("CR-043");
    const auto wrong_password = [&] {
        const cb::sync::cluster refused{scene.lab.uri(), login("wrong")};
        const auto got = fail([&] { return refused["travel"].default_collection().try_get("a"); });
        EXPECT_EQ(got.why.code(), errc::authentication_failure) << got.why.explain();
        return got.took;
    };
    EXPECT_LT(best_of(runs, 100ms, wrong_password), 100ms);
    const auto missing_bucket = [&] {
        const cb::sync::cluster fresh{scene.lab.uri(), login()};
        const auto got = fail([&] { return fresh["nowhere"].default_collection().try_get("a"); });
        EXPECT_EQ(got.why.code(), errc::generic_failure) << got.why.explain();
        EXPECT_NE(got.why.message().find("nowhere"), std::string::npos);
        return got.took;
    };
    EXPECT_LT(best_of(runs, 100ms, missing_bucket), 100ms);
    int n = 0;
    const auto unknown_collection = [&] {
        const auto lost = db["travel"].collection("lost" + std::to_string(++n));
        const auto got = fail([&] { return lost.try_get("a"); });
        EXPECT_EQ(got.why.code(), errc::collection_not_found) << got.why.explain();
        return got.took;
    };
    EXPECT_LT(best_of(runs, 50ms, unknown_collection), 50ms);
}

TEST_F(couchbase_socket_sync, upsert_that_is_cut_fails_within_50_ms_and_get_is_sent_again)
{
    VERIFIES_BY_TRAFFIC("CR-003");
    VERIFIES_BY_TRAFFIC("CR-055");
    int n = 0;
    const auto once = [&] {
        const std::string id = "new" + std::to_string(++n);
        scene.count("upsert");
        scene.fault("upsert", proof::cut_after(0, 1));
        const auto lost = fail([&] { return documents.try_upsert(id, content); });
        EXPECT_EQ(lost.why.code(), errc::request_canceled) << lost.why.explain();
        EXPECT_EQ(lost.why.context("may_have_been_applied"), "true");
        scene.fault("get", proof::cut_before(1));
        EXPECT_EQ(documents.get(id).content, content) << "it was carried out";
        EXPECT_EQ(scene.hits("get"), 1);
        EXPECT_EQ(scene.arrived("upsert"), 1) << "never sent again";
        return lost.took;
    };
    EXPECT_LT(best_of(runs, 50ms, once), 50ms);
}

TEST_F(couchbase_socket_sync, four_temporary_failures_cost_15_ms_and_25_at_most)
{
    VERIFIES_BY_TRAFFIC("CR-023");
    const auto once = [&] {
        scene.fault("upsert", answer_with(kv_status::temporary_failure, 4));
        const auto began = std::chrono::steady_clock::now();
        documents.upsert("a", content);
        const auto took = std::chrono::steady_clock::now() - began;
        EXPECT_GE(took, 15ms);
        EXPECT_EQ(scene.hits("upsert"), 4);
        return took;
    };
    EXPECT_LE(best_of(runs, 25ms, once), 25ms);
}

TEST_F(couchbase_socket_sync, timeouts_come_in_time_and_say_whether_something_was_changed)
{
    VERIFIES_BY_TRAFFIC("CR-058");
    const auto once = [&] {
        scene.fault("upsert", answer_with(kv_status::locked));
        const auto locked = fail(
            [&] { return documents.try_upsert("a", content, {.timeout = 400ms}); });
        EXPECT_EQ(locked.why.code(), errc::unambiguous_timeout) << locked.why.explain();
        EXPECT_GE(locked.why.history().size(), 5u);
        EXPECT_EQ(reasons_of(locked.why).front(), "KV_LOCKED");
        EXPECT_GE(locked.took, 400ms);
        scene.fault("upsert", proof::no_reply(1));
        const auto silent = fail(
            [&] { return documents.try_upsert("a", content, {.timeout = 50ms}); });
        EXPECT_EQ(silent.why.code(), errc::ambiguous_timeout) << silent.why.explain();
        EXPECT_EQ(silent.why.context("may_have_been_applied"), "true");
        EXPECT_GE(silent.took, 50ms);
        return std::max(locked.took - 400ms, silent.took - 50ms);
    };
    EXPECT_LE(best_of(runs, 20ms, once), 20ms);
}

TEST_F(couchbase_socket_sync, operations_of_many_threads_survive_a_cut)
{
    VERIFIES_BY_TRAFFIC("CR-003");
    constexpr int threads = 4;
    constexpr int times = 100;
    scene.fault("increment", [] {
        auto cut = proof::cut_after(0, 5);
        cut.skip = 60;
        return cut;
    }());
    std::atomic<int> acknowledged{0};
    std::atomic<int> in_doubt{0};
    {
        std::vector<std::jthread> running;
        for (int n = 0; n != threads; ++n)
            running.emplace_back([&] {
                for (int i = 0; i != times; ++i) {
                    const auto got = documents.try_increment("n", {.initial = 1});
                    if (got)
                        ++acknowledged;
                    else if (got.error().context("may_have_been_applied") == "true")
                        ++in_doubt;
                    else
                        ADD_FAILURE() << got.error().explain();
                }
            });
    }
    EXPECT_EQ(acknowledged + in_doubt, threads * times);
    const auto is = static_cast<int>(documents.increment("n", {.delta = 0}).value);
    EXPECT_GE(is, acknowledged);
    EXPECT_LE(is, acknowledged + in_doubt);
}

}  // namespace
}  // namespace holdfast::couchbase_socket_sync_test
