// The server's error map: it decides on statuses that this library does not know, and on nothing
// else.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_error_map_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::labels_of;
using proof::observing_strategy;
using proof::status_fault;

/// One status that servers of that version send, with its attributes: R"("retry-now","temp")".
std::string map_of(int version, const std::string& status, const std::string& attributes,
                   const std::string& retry = R"({"strategy":"constant","interval":5000,)"
                                              R"("after":5000,"ceil":5000,"max-duration":1})")
{
    return R"({"version":)" + std::to_string(version) + R"(,"revision":9,"errors":{")" + status +
           R"(":{"name":"NEW","desc":"d","attrs":[)" + attributes + R"(],"retry":)" + retry + "}}}";
}

class couchbase_error_map : public ::testing::Test {
protected:
    std::shared_ptr<observing_strategy> open(const std::string& map)
    {
        for (std::size_t n = 0; n != scene.cluster->nodes(); ++n)
            scene.node(n).error_map = map;
        auto strategy = std::make_shared<observing_strategy>();
        couchbase::cluster_options options;
        options.strategy = strategy;
        scene.connect(options);
        scene.warm_up();
        return strategy;
    }
    kv_scene scene;
};

TEST_F(couchbase_error_map, indicated_retry_reaches_the_strategy_whose_waits_are_taken)
{
    VERIFIES_BY_TRAFFIC("CR-054");
    VERIFIES_BY_TRAFFIC("CR-071");
    VERIFIES_BY_TRAFFIC("CR-073");
    struct row {
        int version;
        const char* attributes;
    };
    constexpr row table[] = {{1, R"("auto-retry")"},
                             {2, R"("auto-retry")"},
                             {2, R"("retry-now")"},
                             {2, R"("temp","retry-later")"}};
    for (const row& one : table) {
        SCOPED_TRACE(one.attributes);
        kv_scene fresh;
        fresh.node(0).error_map = map_of(one.version, "7ff0", one.attributes);
        const auto strategy = std::make_shared<observing_strategy>();
        couchbase::cluster_options options;
        options.strategy = strategy;
        fresh.connect(options);
        fresh.warm_up();
        for (const kv_opcode opcode : {kv_opcode::upsert, kv_opcode::get}) {
            strategy->asked.clear();
            fresh.fault(0, opcode, status_fault(kv_status{0x7ff0}), activation::times(4));
            duration took{};
            if (opcode == kv_opcode::get) {
                const auto read = fresh.get("warm1");
                EXPECT_TRUE(read->good()) << read->explain();
                took = read->took();
            } else {
                const auto stored = fresh.upsert("a", "{}");
                EXPECT_TRUE(stored->good()) << stored->explain();
                took = stored->took();
            }
            // Neither an interval of 5 s nor the end after 1 ms that the map wants.
            EXPECT_EQ(took, 1ms + 2ms + 4ms + 8ms + 5 * 2ms);
            EXPECT_EQ(strategy->asked.size(), 4u);
            EXPECT_EQ(strategy->reasons(),
                      std::vector<retry_reason>{retry_reason::kv_error_map_retry_indicated});
        }
    }
}

TEST_F(couchbase_error_map, wait_is_that_of_a_calculator_too)
{
    VERIFIES_BY_TRAFFIC("CR-073");
    scene.node(0).error_map = map_of(2, "7ff0", R"("retry-later")");
    couchbase::cluster_options options;
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>(
        [](std::uint32_t) -> duration { return 7ms; });
    scene.connect(options);
    scene.warm_up();
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status{0x7ff0}), activation::times(3));
    const auto stored = scene.upsert("a", "{}");
    ASSERT_TRUE(stored->good()) << stored->explain();
    EXPECT_EQ(stored->took(), 3 * 7ms + 4 * 2ms);
}

TEST_F(couchbase_error_map, status_without_an_indicated_retry_asks_no_strategy)
{
    VERIFIES_BY_TRAFFIC("CR-072");
    const auto strategy = open(map_of(2, "7ff1", R"("item-only")"));
    for (const kv_opcode opcode : {kv_opcode::get, kv_opcode::upsert}) {
        scene.count_requests(opcode);
        scene.fault(0, opcode, status_fault(kv_status{0x7ff1}), activation::always());
    }
    const auto read = scene.get("warm1");
    EXPECT_EQ(read->code(), errc::generic_failure) << read->explain();
    EXPECT_NE(read->error().message().find("NEW"), std::string::npos) << read->explain();
    EXPECT_EQ(read->took(), 2ms);
    const auto stored = scene.upsert("a", "{}");
    EXPECT_EQ(stored->code(), errc::generic_failure) << stored->explain();
    EXPECT_EQ(stored->took(), 2ms);
    EXPECT_EQ(stored->error().history().size(), 1u);
    EXPECT_EQ(scene.counted(kv_opcode::get), 1);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 1);
    EXPECT_TRUE(strategy->asked.empty());
}

TEST_F(couchbase_error_map, status_that_the_library_knows_does_not_touch_the_map)
{
    VERIFIES_BY_TRAFFIC("CR-070");
    struct row {
        const char* status;
        const char* attributes;
        kv_status answered;
        std::int64_t requests;  // for two answers of that kind
    };
    // What the map says is the reverse of what the library knows.
    constexpr row table[] = {
        {"86", R"("item-only","no-retry","conn-state-invalidated")", kv_status::temporary_failure,
         3},
        {"9", R"("item-only")", kv_status::locked, 3},
        {"7", R"("item-only")", kv_status::not_my_vbucket, 3},
        {"3", R"("retry-now","conn-state-invalidated")", kv_status::too_big, 1},
        {"82", R"("temp","retry-later")", kv_status::out_of_memory, 1},
        {"a3", R"("auto-retry")", kv_status::sync_write_ambiguous, 1},
    };
    for (const row& one : table) {
        SCOPED_TRACE(one.status);
        kv_scene fresh;
        fresh.node(0).error_map = map_of(2, one.status, one.attributes);
        fresh.connect();
        fresh.warm_up();
        fresh.count_requests(kv_opcode::hello);
        fresh.count_requests(kv_opcode::upsert);
        fresh.fault(0, kv_opcode::upsert, status_fault(one.answered), activation::times(2));
        const auto stored = fresh.upsert("a", "{}");
        EXPECT_EQ(stored->good(), one.requests == 3) << stored->explain();
        EXPECT_EQ(fresh.counted(kv_opcode::upsert), one.requests);
        fresh.simulation.run_for(1s);
        EXPECT_EQ(fresh.counted(kv_opcode::hello), 0) << "the connection stays";
    }
}

TEST_F(couchbase_error_map, attributes_beside_retries_are_obeyed_for_unknown_statuses)
{
    open(map_of(2, "7ff2", R"("conn-state-invalidated","retry-now")"));
    scene.count_requests(kv_opcode::hello);
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status{0x7ff2}), activation::times(1));
    const auto stored = scene.upsert("a", "{}");
    EXPECT_TRUE(stored->good()) << stored->explain();
    EXPECT_EQ(scene.counted(kv_opcode::hello), 1) << "over a new connection";
}

TEST_F(couchbase_error_map, server_without_a_usable_map_fails_unknown_statuses_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-072");
    for (const bool has_none : {true, false}) {
        kv_scene fresh;
        if (has_none)
            fresh.fault(0, kv_opcode::get_error_map, status_fault(kv_status::unknown_command),
                        activation::always());
        else
            fresh.node(0).error_map = "{]";
        fresh.connect();
        fresh.warm_up();
        fresh.count_requests(kv_opcode::get);
        fresh.fault(0, kv_opcode::get, status_fault(kv_status{0x7ff0}), activation::always());
        const auto read = fresh.get("warm1");
        EXPECT_EQ(read->code(), errc::generic_failure) << read->explain();
        EXPECT_EQ(labels_of(read->error()), std::vector<std::string>{""});
        EXPECT_EQ(fresh.counted(kv_opcode::get), 1);
    }
}

}  // namespace
}  // namespace holdfast::couchbase_error_map_test
