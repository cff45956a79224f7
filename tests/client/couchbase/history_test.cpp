// What an error has about its attempts, what a timeout says of a request that was never sent, and
// what listeners hear of connections and configurations.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_history_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using lab::couchbase::kv_fault;
using proof::kv_scene;
using proof::use_awaitable;

kv_fault status(kv_status what)
{
    kv_fault made;
    made.error_code = static_cast<int>(what);
    return made;
}

kv_fault cut()
{
    kv_fault made;
    made.close_connection = true;
    return made;
}

kv_fault silence()
{
    kv_fault made;
    made.silent = true;
    return made;
}

struct attempt_row {
    dispatch_phase phase;
    std::string reason;
    duration started;
    duration took;
    duration waited;
    std::string decision;
    bool possibly_applied;
};

void expect_history(const error& why, const std::string& server,
                    const std::vector<attempt_row>& rows)
{
    const auto history = why.history();
    ASSERT_EQ(history.size(), rows.size()) << why.explain();
    for (std::size_t n = 0; n != rows.size(); ++n) {
        SCOPED_TRACE("attempt " + std::to_string(n + 1));
        const attempt& one = history[n];
        EXPECT_EQ(one.server.value(), server);
        EXPECT_EQ(one.phase, rows[n].phase);
        EXPECT_EQ(one.labels.empty() ? "" : one.labels.front(), rows[n].reason);
        EXPECT_EQ(one.started, rows[n].started);
        EXPECT_EQ(one.took, rows[n].took);
        EXPECT_EQ(one.waited, rows[n].waited);
        EXPECT_EQ(one.decision, rows[n].decision);
        EXPECT_EQ(one.possibly_applied, rows[n].possibly_applied);
        EXPECT_TRUE(one.cause);
    }
}

TEST(couchbase_history, each_attempt_has_its_node_phase_reason_times_and_sentence)
{
    kv_scene scene;
    scene.connect();
    scene.warm_up();
    scene.fault(0, kv_opcode::upsert, status(kv_status::temporary_failure), activation::times(1));
    scene.fault(0, kv_opcode::upsert, status(kv_status::not_my_vbucket), activation::times(1));
    scene.fault(0, kv_opcode::upsert, status(kv_status::locked), activation::times(1));
    scene.fault(0, kv_opcode::upsert, cut(), activation::times(1));
    const auto lost = scene.upsert("a", "{}");
    EXPECT_EQ(lost->code(), errc::request_canceled) << lost->explain();
    using phase = dispatch_phase;
    expect_history(lost->error(), "n0:11210",
                   {{phase::answered, "KV_TEMPORARY_FAILURE", 0ms, 2ms, 1ms,
                     "retried by the strategy, after 1 ms", false},
                    {phase::answered, "KV_NOT_MY_VBUCKET", 3ms, 2ms, 10ms,
                     "always retried, after 10 ms", false},
                    {phase::answered, "KV_LOCKED", 15ms, 2ms, 4ms,
                     "retried by the strategy, after 4 ms", false},
                    {phase::in_flight, "SOCKET_CLOSED_WHILE_IN_FLIGHT", 21ms, 2ms, 0ms,
                     "not retried: it is not idempotent and may have been applied", true}});
    EXPECT_EQ(lost->error().context("may_have_been_applied"), "true");
    EXPECT_EQ(lost->error().context("operation"), "upsert");
    EXPECT_EQ(lost->error().context("retry_attempts"), "3");
    EXPECT_EQ(lost->error().context("server"), "n0:11210");
    EXPECT_EQ(lost->error().context("bucket"), "travel");
}

TEST(couchbase_history, deadline_during_an_attempt_is_its_last_entry)
{
    kv_scene scene;
    scene.connect();
    scene.warm_up();
    for (const kv_opcode opcode : {kv_opcode::get, kv_opcode::upsert}) {
        scene.fault(0, opcode, status(kv_status::temporary_failure), activation::times(1));
        scene.fault(0, opcode, silence(), activation::times(1));
    }
    using phase = dispatch_phase;
    std::vector<attempt_row> rows{
        {phase::answered, "KV_TEMPORARY_FAILURE", 0ms, 2ms, 1ms,
         "retried by the strategy, after 1 ms", false},
        {phase::in_flight, "", 3ms, 97ms, 0ms, "timed out during the attempt", false}};
    const auto read = scene.get("warm1", {.timeout = 100ms});
    EXPECT_EQ(read->code(), errc::unambiguous_timeout);
    expect_history(read->error(), "n0:11210", rows);
    const auto written = scene.upsert("a", "{}", {.timeout = 100ms});
    EXPECT_EQ(written->code(), errc::ambiguous_timeout);
    rows.back().possibly_applied = true;
    expect_history(written->error(), "n0:11210", rows);
}

TEST(couchbase_history, attempts_at_several_nodes_have_their_own)
{
    kv_scene scene{{.nodes = 2, .replicas = 1}};
    scene.connect();
    scene.warm_up();
    const std::string first = scene.get("none")->error().history()[0].server.value();
    const std::size_t number = first == "n0:11210" ? 0 : 1;
    scene.fault_everywhere(kv_opcode::get, status(kv_status::temporary_failure),
                           activation::always());
    const auto late = scene.start(scene.documents().get("none", {.timeout = 500ms}, use_awaitable));
    scene.simulation.run_for(100ms);
    ASSERT_TRUE(scene.cluster->fail_over(number));
    ASSERT_TRUE(scene.finish([&] { return late->done(); }));
    ASSERT_FALSE(late->good());
    const auto history = late->error().history();
    EXPECT_EQ(history.front().server.value(), first);
    EXPECT_EQ(history.back().server.value(), number == 0 ? "n1:11210" : "n0:11210");
    EXPECT_EQ(late->error().context("server"), history.back().server.value());
}

// ---- Never sent: what it was waiting for ----

struct waiting_row {
    const char* name;
    std::function<void(kv_scene&)> arrange;
    std::string collection;
    std::vector<std::string> said;
};

void fill_connection(kv_scene& scene)
{
    scene.fault(0, kv_opcode::get, silence(), activation::always());
    for (int n = 0; n != 1024; ++n)
        scene.start(scene.documents().get("k" + std::to_string(n), {}, use_awaitable));
    scene.simulation.run_for(5ms);
}

const std::vector<waiting_row>& waiting_rows()
{
    static const std::vector<waiting_row> rows{
        {"no configuration",
         [](kv_scene& scene) {
             scene.connect();
             scene.simulation.partition(scene.app, scene.host_of(0));
         },
         "_default",
         {"bucket \"travel\": no configuration yet (n0:11210: connecting for 100 ms)"}},
        {"login that breaks off",
         [](kv_scene& scene) {
             scene.connect();
             scene.fault(0, kv_opcode::sasl_auth, cut(), activation::always());
         },
         "_default",
         {"no configuration yet (n0:11210: ", "last error", "closed the connection"}},
        {"look-up that is not answered",
         [](kv_scene& scene) {
             scene.connect();
             scene.warm_up();
             scene.fault(0, kv_opcode::get_collection_id, silence(), activation::always());
         },
         "airline",
         {"waiting for the id of collection \"airline\" of scope \"_default\"",
          "(n0:11210: connected for"}},
        {"collection that is not there",
         [](kv_scene& scene) {
             couchbase::cluster_options options;
             options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>();
             scene.connect(std::move(options));
             scene.warm_up();
         },
         "nowhere",
         {"waiting for the id of collection \"nowhere\" of scope \"_default\"",
          "\"nowhere\" of scope \"_default\" is not in bucket \"travel\""}},
        {"full connection",
         [](kv_scene& scene) {
             scene.connect();
             scene.warm_up();
             fill_connection(scene);
         },
         "_default",
         {"waiting for a place on the connection to n0:11210 (n0:11210: connected for"}},
    };
    return rows;
}

TEST(couchbase_history, timeout_of_a_request_that_was_never_sent_says_what_it_waited_for)
{
    for (const waiting_row& row : waiting_rows()) {
        SCOPED_TRACE(row.name);
        kv_scene scene;
        scene.cluster->create_collection("travel", "_default", "airline");
        row.arrange(scene);
        const auto in = (*scene.client)["travel"].collection(row.collection);
        const couchbase::raw_json content{"{}"};
        const auto late = scene.run(in.upsert("a", content, {.timeout = 100ms}, use_awaitable));
        EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
        EXPECT_EQ(late->took(), 100ms);
        const std::string& message = late->error().message();
        EXPECT_NE(message.find("it was never sent"), std::string::npos) << message;
        for (const std::string& part : row.said)
            EXPECT_NE(message.find(part), std::string::npos) << message;
        EXPECT_EQ(late->error().context("may_have_been_applied"), "false");
        for (const attempt& one : late->error().history())
            EXPECT_EQ(one.phase, dispatch_phase::not_sent);
    }
}

TEST(couchbase_history, readiness_that_is_not_reached_names_each_node)
{
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    scene.host_of(1).crash();
    scene.simulation.run_for(10ms);
    const auto late = scene.run((*scene.client)["travel"].ready({.timeout = 100ms}, use_awaitable));
    ASSERT_FALSE(late->good());
    EXPECT_EQ(late->took(), 100ms);
    const std::string& message = late->error().message();
    EXPECT_NE(message.find("n0:11210: connected for"), std::string::npos) << message;
    EXPECT_NE(message.find("n1:11210: not connected, last error"), std::string::npos) << message;
}

// ---- Events ----

class recorded_events final : public couchbase::event_listener {
public:
    void on(const couchbase::connection_opened& what) override
    {
        add("opened " + what.bucket + " " + what.server.value());
    }
    void on(const couchbase::connection_failed& what) override
    {
        add("failed " + what.bucket + " " + what.server.value() + ": " + what.cause);
    }
    void on(const couchbase::connection_lost& what) override
    {
        add("lost " + what.bucket + " " + what.server.value() + ": " + what.cause);
    }
    void on(const couchbase::config_changed& what) override
    {
        add("config " + what.bucket + " " + what.from.value() + ": " + what.revision);
    }
    void on(const couchbase::config_refused& what) override
    {
        add("refused " + what.bucket + " " + what.from.value() + ": " + what.cause);
    }
    /// How many begin so.
    std::size_t count(const std::string& begin) const
    {
        return static_cast<std::size_t>(std::ranges::count_if(
            lines, [&](const std::string& line) { return line.starts_with(begin); }));
    }
    std::string text() const
    {
        std::string all;
        for (const std::string& line : lines)
            all += line + "\n";
        return all;
    }
    std::vector<std::string> lines;

private:
    void add(std::string line) { lines.push_back(std::move(line)); }
};

class couchbase_events : public ::testing::Test {
protected:
    void open()
    {
        couchbase::cluster_options options;
        options.listeners = {events};
        scene.connect(std::move(options));
        scene.warm_up();
    }
    std::shared_ptr<recorded_events> events = std::make_shared<recorded_events>();
    kv_scene scene;
};

TEST_F(couchbase_events, connection_is_opened_lost_with_its_cause_and_opened_again)
{
    open();
    EXPECT_EQ(events->count("opened travel n0:11210"), 1u) << events->text();
    EXPECT_EQ(events->count("lost"), 0u);
    scene.fault(0, kv_opcode::get, cut(), activation::times(1));
    ASSERT_TRUE(scene.get("warm1")->good());
    EXPECT_EQ(events->count("lost travel n0:11210: "), 1u) << events->text();
    EXPECT_EQ(events->count("lost travel n0:11210: \n"), 0u) << "it has a cause";
    EXPECT_EQ(events->count("opened travel n0:11210"), 2u) << events->text();
}

TEST_F(couchbase_events, attempts_to_connect_fail_with_their_causes)
{
    scene.fault(0, kv_opcode::sasl_auth, status(kv_status::auth_error), activation::times(1));
    couchbase::cluster_options options;
    options.listeners = {events};
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>();
    scene.connect(std::move(options));
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    // The first login is that of the cluster's own connection, or that of the bucket's.
    EXPECT_EQ(events->count("failed "), 1u) << events->text();
    EXPECT_NE(events->text().find("n0:11210: the server refused to authenticate the user"),
              std::string::npos)
        << events->text();
}

TEST_F(couchbase_events, configurations_are_reported_with_their_revisions_once)
{
    open();
    EXPECT_EQ(events->count("config travel n0:11210: "), 1u) << events->text();
    scene.cluster->publish();
    scene.simulation.run_for(3s);
    EXPECT_EQ(events->count("config travel n0:11210: "), 2u) << events->text();
    scene.simulation.run_for(10s);
    EXPECT_EQ(events->count("config travel"), 2u) << "the same one again is no news";
}

TEST_F(couchbase_events, configuration_that_cannot_be_used_is_reported_with_its_cause)
{
    open();
    scene.node(0).damage = lab::couchbase::config_damage::index_out_of_range;
    scene.cluster->publish();
    scene.simulation.run_for(3s);
    EXPECT_GE(events->count("refused travel n0:11210: "), 1u) << events->text();
    EXPECT_EQ(events->count("config travel"), 1u) << "the present one stays";
    EXPECT_TRUE(scene.get("warm1")->good());
}

}  // namespace
}  // namespace holdfast::couchbase_history_test
