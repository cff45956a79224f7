// What diagnostics() and ping() say, and in what form.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <map>
#include <set>

namespace holdfast::couchbase_reports_test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::ping_state;
using lab::activation;
using proof::kv_scene;
using proof::use_awaitable;

couchbase::ping_report ping(kv_scene& scene, couchbase::ping_options options = {})
{
    const auto run = scene.run(scene.client->ping(options, use_awaitable));
    EXPECT_TRUE(run->good()) << run->explain();
    EXPECT_LE(run->took(), options.timeout);
    return run->good() ? **run->outcome : couchbase::ping_report{};
}

/// The members of the entries under "kv", by the address of their node and their bucket.
std::map<std::string, json::object> entries_of(const json::value& report)
{
    std::map<std::string, json::object> made;
    for (const json::value& one : report.at("services").at("kv").as_array()) {
        const json::object& entry = one.as_object();
        const bool has_bucket = entry.contains("namespace");
        made.emplace(std::string{entry.at("remote").as_string()} +
                         (has_bucket ? " " + std::string{entry.at("namespace").as_string()} : ""),
                     entry);
    }
    return made;
}

TEST(couchbase_reports, first_thing_to_do_with_a_cluster_can_be_a_ping)
{
    kv_scene scene{{.nodes = 3}};
    scene.connect();
    const auto report = ping(scene);
    EXPECT_TRUE(report.all_answered()) << report.to_json();
    EXPECT_TRUE(report.config_revision);
}

TEST(couchbase_reports, ping_waits_for_connections_that_are_being_opened)
{
    kv_scene scene{{.nodes = 3}};
    scene.connect();
    const auto opens = scene.start(scene.documents().get("k", {.timeout = 5s}, use_awaitable));
    const auto report = ping(scene);
    EXPECT_TRUE(report.all_answered()) << report.to_json();
    std::set<std::string> nodes;
    for (const auto& one : report.key_value) {
        if (one.bucket == "travel")
            nodes.insert(one.server.value());
    }
    EXPECT_EQ(nodes, (std::set<std::string>{"n0:11210", "n1:11210", "n2:11210"}));
    ASSERT_TRUE(scene.finish([&] { return opens->done(); }));
}

TEST(couchbase_reports, connection_that_is_not_open_in_time_is_a_timeout)
{
    kv_scene scene{{.nodes = 2}};
    lab::couchbase::kv_fault silent;
    silent.silent = true;
    scene.fault(1, kv_opcode::hello, silent, activation::always());
    scene.connect();
    const auto opens = scene.start(
        scene.documents().get(scene.key_on(0), {.timeout = 5s}, use_awaitable));
    const auto report = ping(scene, {.timeout = 300ms});
    for (const auto& one : report.key_value) {
        const bool hangs = one.server.value() == "n1:11210";
        EXPECT_EQ(one.state, hangs ? ping_state::timeout : ping_state::ok) << one.error;
        EXPECT_EQ(one.error.empty(), !hangs);
    }
    EXPECT_FALSE(report.all_answered());
    ASSERT_TRUE(scene.finish([&] { return opens->done(); }));
}

TEST(couchbase_reports, node_that_cannot_be_reached_is_an_error_at_once)
{
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    scene.host_of(1).crash();
    scene.simulation.run_for(1s);
    const time_point began = scene.simulation.now();
    const auto report = ping(scene);
    EXPECT_LE(scene.simulation.now() - began, 10ms);
    for (const auto& one : report.key_value) {
        if (one.server.value() == "n1:11210") {
            EXPECT_EQ(one.state, ping_state::error) << one.error;
        }
    }
}

TEST(couchbase_reports, diagnostics_have_the_shape_that_all_clients_share)
{
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    const auto report = scene.client->diagnostics();
    const json::value first = json::parse(report.to_json());
    EXPECT_EQ(first.at("version").as_int64(), 2);
    EXPECT_EQ(first.at("id").as_string(), report.id);
    EXPECT_TRUE(first.at("sdk").as_string().starts_with("holdfast/"));
    const auto entries = entries_of(first);
    EXPECT_EQ(entries.size(), 3u) << "one is the cluster's own";
    std::set<std::string> ids;
    std::set<std::string> addresses;
    for (const auto& [which, entry] : entries) {
        SCOPED_TRACE(which);
        EXPECT_EQ(entry.at("state").as_string(), "connected");
        EXPECT_GE(entry.at("last_activity_us").as_int64(), 0);
        ids.insert(std::string{entry.at("id").as_string()});
        addresses.insert(std::string{entry.at("local").as_string()});
    }
    EXPECT_EQ(ids.size(), 3u);
    EXPECT_EQ(addresses.size(), 3u);
    EXPECT_NE(scene.client->diagnostics().id, report.id);

    // What is opened again keeps its id, and is at another address.
    scene.simulation.reset_connections(scene.app, scene.host_of(1));
    scene.simulation.run_for(1s);
    const auto later = entries_of(json::parse(scene.client->diagnostics().to_json()));
    const json::object& before = entries.at("n1:11210 travel");
    const json::object& after = later.at("n1:11210 travel");
    EXPECT_EQ(after.at("id"), before.at("id"));
    EXPECT_NE(after.at("local"), before.at("local"));
}

TEST(couchbase_reports, pings_have_the_shape_that_all_clients_share)
{
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    lab::couchbase::kv_fault silent;
    silent.silent = true;
    scene.fault(1, kv_opcode::noop, silent, activation::always());
    auto report = ping(scene, {.timeout = 100ms});
    report.id = "mine";
    const json::value made = json::parse(report.to_json());
    EXPECT_EQ(made.at("version").as_int64(), 2);
    EXPECT_EQ(made.at("id").as_string(), "mine");
    EXPECT_GE(made.at("config_rev").as_int64(), 1);
    const auto entries = entries_of(made);
    const json::object& good = entries.at("n0:11210 travel");
    EXPECT_EQ(good.at("state").as_string(), "ok");
    EXPECT_EQ(good.at("latency_us").as_int64(), 2000);
    EXPECT_TRUE(good.contains("local"));
    EXPECT_FALSE(good.contains("error"));
    const json::object& late = entries.at("n1:11210 travel");
    EXPECT_EQ(late.at("state").as_string(), "timeout");
    EXPECT_FALSE(late.at("error").as_string().empty());
    std::set<std::string> known;
    for (const auto& one : scene.client->diagnostics().key_value)
        known.insert(one.id);
    EXPECT_TRUE(known.contains(std::string{good.at("id").as_string()}));
}

}  // namespace
}  // namespace holdfast::couchbase_reports_test
