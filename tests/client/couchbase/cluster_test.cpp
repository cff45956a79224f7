#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/describe.hpp>

#include <chrono>

namespace holdfast::couchbase_cluster_test {

struct airline {
    std::string name;
    int fleet = 0;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet))

namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using proof::kv_scene;
using proof::use_awaitable;

TEST(couchbase_cluster, first_operation_opens_the_bucket_and_reads_what_was_written)
{
    kv_scene scene{{.nodes = 3}};
    scene.connect();
    const auto written = scene.upsert("a", R"({"n":1})");
    ASSERT_TRUE(written->good()) << written->explain();
    EXPECT_TRUE((*written->outcome)->cas);
    ASSERT_TRUE((*written->outcome)->token);
    EXPECT_EQ((*written->outcome)->token->bucket, "travel");
    EXPECT_LE(written->took(), 30ms);
    const auto read = scene.get("a");
    ASSERT_TRUE(read->good()) << read->explain();
    EXPECT_EQ((*read->outcome)->content.text(), R"({"n":1})");
    EXPECT_EQ((*read->outcome)->cas, (*written->outcome)->cas);
    EXPECT_EQ(read->took(), 2ms) << "one round trip";
}

TEST(couchbase_cluster, keys_go_to_the_nodes_that_have_their_vbuckets)
{
    kv_scene scene{{.nodes = 3}};
    scene.connect();
    scene.count_requests(kv_opcode::upsert);
    for (int i = 0; i < 60; ++i)
        ASSERT_TRUE(scene.upsert("key" + std::to_string(i), "{}")->good());
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 60) << "none was refused";
    std::size_t busy = 0;
    for (const auto& one : scene.client->diagnostics().key_value)
        busy += one.bucket == "travel" && one.state == couchbase::endpoint_state::connected;
    EXPECT_EQ(busy, 3u);
}

TEST(couchbase_cluster, structs_are_stored_and_read_as_json)
{
    kv_scene scene;
    scene.connect();
    const airline klm{"KLM", 110};
    ASSERT_TRUE(scene.run(scene.documents().upsert("klm", klm, {}, use_awaitable))->good());
    const auto read = scene.run(scene.documents().get<airline>("klm", {}, use_awaitable));
    ASSERT_TRUE(read->good()) << read->explain();
    EXPECT_EQ((*read->outcome)->content.name, "KLM");
    EXPECT_EQ((*read->outcome)->content.fleet, 110);
}

TEST(couchbase_cluster, projected_get_brings_the_wanted_paths_only)
{
    kv_scene scene;
    scene.connect();
    ASSERT_TRUE(
        scene.upsert("a", R"({"n":1,"m":2})", {.expiry = couchbase::expiry::in(1h)})->good());
    const std::string_view paths[] = {"n"};
    const auto part = scene.get("a", {.with_expiry = true, .project = paths});
    ASSERT_TRUE(part->good()) << part->explain();
    EXPECT_EQ((*part->outcome)->content.text(), R"({"n":1})");
    EXPECT_TRUE((*part->outcome)->expiry);
}

TEST(couchbase_cluster, missing_document_is_an_error_with_its_attempt)
{
    kv_scene scene;
    scene.connect();
    const auto none = scene.get("none");
    EXPECT_EQ(none->code(), errc::document_not_found);
    ASSERT_EQ(none->error().history().size(), 1u);
    EXPECT_EQ(none->error().history()[0].phase, dispatch_phase::answered);
    EXPECT_EQ(none->error().history()[0].server.value(), "n0:11210");
    EXPECT_EQ(none->error().context("collection"), "_default");
}

TEST(couchbase_cluster, throwing_form_throws_the_same_error)
{
    kv_scene scene;
    scene.connect();
    const auto caught = [](couchbase::collection in, error_code* into) -> runtime::awaitable<int> {
        try {
            co_await in.get("none");
        } catch (const failure& failed) {
            *into = failed.error().code();
        }
        co_return 1;
    };
    error_code code;
    scene.wait_for(caught(scene.documents(), &code));
    EXPECT_EQ(code, errc::document_not_found);
}

TEST(couchbase_cluster, callbacks_get_a_result)
{
    kv_scene scene;
    scene.connect();
    std::optional<error_code> code;
    scene.documents().get("none", {}, [&](const auto& outcome) { code = outcome.error().code(); });
    ASSERT_TRUE(scene.finish([&] { return code.has_value(); }));
    EXPECT_EQ(*code, errc::document_not_found);
}

TEST(couchbase_cluster, wrong_password_fails_the_first_operation_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-031");
    VERIFIES_BY_TRAFFIC("CR-039");
    kv_scene scene{{.nodes = 3}};
    couchbase::cluster_options options;
    options.authenticator = kv_scene::login("wrong");
    scene.connect(options);
    const auto refused = scene.get("a");
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
    EXPECT_LT(refused->took(), 100ms);
    EXPECT_NE(refused->error().message().find("n0:11210"), std::string::npos);
}

TEST(couchbase_cluster, login_that_is_refused_once_is_no_error)
{
    VERIFIES_BY_TRAFFIC("CR-032");
    kv_scene scene;
    lab::couchbase::kv_fault refusal;
    refusal.error_code = 0x20;
    refusal.close_connection = false;
    scene.fault(0, kv_opcode::sasl_auth, refusal, lab::activation::times(1));
    couchbase::cluster_options options;
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>();
    scene.connect(options);
    const auto one = scene.upsert("a", "{}");
    EXPECT_TRUE(one->good()) << one->explain();
}

TEST(couchbase_cluster, missing_bucket_fails_at_once_and_leaves_others_alone)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    VERIFIES_BY_TRAFFIC("CR-041");
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    const auto nowhere = (*scene.client)["nowhere"].default_collection();
    const auto refused = scene.run(nowhere.get("a", {}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
    EXPECT_LT(refused->took(), 100ms);
    EXPECT_NE(refused->error().message().find("nowhere"), std::string::npos);
    EXPECT_TRUE(scene.get("a")->good());
}

TEST(couchbase_cluster, bucket_that_is_created_later_is_found_by_a_patient_operation)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    kv_scene scene;
    scene.connect();
    const couchbase::retry_strategy_ptr patient =
        std::make_shared<couchbase::best_effort_retry_strategy>();
    const auto later = (*scene.client)["later"].default_collection();
    const auto waits = scene.start(
        later.get("a", {.timeout = 10s, .strategy = &patient}, use_awaitable));
    scene.simulation.run_for(500ms);
    EXPECT_FALSE(waits->done());
    ASSERT_TRUE(scene.cluster->create_bucket("later"));
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
    EXPECT_LT(waits->took(), 3s);
}

TEST(couchbase_cluster, unknown_collection_fails_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-037");
    VERIFIES_BY_TRAFFIC("CR-042");
    VERIFIES_BY_TRAFFIC("CR-043");
    kv_scene scene;
    scene.connect();
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    const auto lost = (*scene.client)["travel"].collection("lost");
    const auto refused = scene.run(lost.get("a", {}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::collection_not_found) << refused->explain();
    EXPECT_LT(refused->took(), 50ms);
    const auto no_scope = (*scene.client)["travel"]["lost"]["lost"];
    const auto refused_too = scene.run(no_scope.get("a", {}, use_awaitable));
    EXPECT_EQ(refused_too->code(), errc::scope_not_found) << refused_too->explain();
}

TEST(couchbase_cluster, collection_that_is_made_again_is_used_by_its_new_id)
{
    VERIFIES_BY_TRAFFIC("CR-053");
    VERIFIES_BY_TRAFFIC("CR-082");
    kv_scene scene;
    scene.cluster->create_collection("travel", "_default", "airline");
    scene.connect();
    const auto airlines = (*scene.client)["travel"].collection("airline");
    const couchbase::raw_json empty{"{}"};
    ASSERT_TRUE(scene.run(airlines.upsert("a", empty, {}, use_awaitable))->good());
    scene.cluster->drop_collection("travel", "_default", "airline");
    scene.cluster->create_collection("travel", "_default", "airline");
    const auto again = scene.run(airlines.upsert("a", empty, {}, use_awaitable));
    EXPECT_TRUE(again->good()) << again->explain();
}

TEST(couchbase_cluster, one_look_up_serves_all_operations_on_a_collection)
{
    kv_scene scene;
    scene.cluster->create_collection("travel", "_default", "airline");
    scene.connect();
    scene.count_requests(kv_opcode::get_collection_id);
    const auto airlines = (*scene.client)["travel"].collection("airline");
    const couchbase::raw_json empty{"{}"};
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    for (int i = 0; i < 50; ++i)
        all.push_back(
            scene.start(airlines.upsert("k" + std::to_string(i), empty, {}, use_awaitable)));
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const auto& one : all)
        EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(scene.counted(kv_opcode::get_collection_id), 1);
}

TEST(couchbase_cluster, look_up_that_is_refused_is_a_failed_attempt_and_waits_like_others)
{
    kv_scene scene;
    scene.cluster->create_collection("travel", "_default", "airline");
    scene.connect();
    scene.count_requests(kv_opcode::get_collection_id);
    lab::couchbase::kv_fault busy;
    busy.error_code = static_cast<int>(core::couchbase::kv_status::temporary_failure);
    scene.fault(0, kv_opcode::get_collection_id, busy, lab::activation::times(4));
    const auto airlines = (*scene.client)["travel"].collection("airline");
    const couchbase::raw_json empty{"{}"};
    const auto stored = scene.run(airlines.upsert("a", empty, {}, use_awaitable));
    EXPECT_TRUE(stored->good()) << stored->explain();
    EXPECT_EQ(scene.counted(kv_opcode::get_collection_id), 5);
    EXPECT_GE(stored->took(), 15ms) << "1 + 2 + 4 + 8";

    scene.fault(0, kv_opcode::get_collection_id, busy, lab::activation::always());
    const auto hotels = (*scene.client)["travel"].collection("hotel");
    const auto late = scene.run(hotels.upsert("a", empty, {.timeout = 1s}, use_awaitable));
    EXPECT_EQ(late->code(), couchbase::errc::unambiguous_timeout) << late->explain();
    EXPECT_LE(scene.counted(kv_opcode::get_collection_id), 20);
}

TEST(couchbase_cluster, timeout_before_the_first_dispatch_says_what_it_waited_for)
{
    kv_scene scene{{.nodes = 2}};
    scene.simulation.partition(scene.app, scene.host_of(0));
    scene.host_of(1).crash();
    scene.connect();
    const auto late = scene.get("a", {.timeout = 200ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout);
    EXPECT_EQ(late->took(), 200ms);
    EXPECT_NE(late->error().message().find("n0:11210: connecting for"), std::string::npos)
        << late->error().message();
    EXPECT_NE(late->error().message().find("n1:11210: not connected"), std::string::npos)
        << late->error().message();
}

TEST(couchbase_cluster, ready_waits_for_all_nodes_of_the_bucket)
{
    kv_scene scene{{.nodes = 3}};
    scene.connect({}, "/travel");
    const auto ready = [](couchbase::cluster what) -> runtime::awaitable<int> {
        co_await what.ready();
        co_return 1;
    };
    ASSERT_TRUE(scene.wait_for(ready(*scene.client)));
    std::size_t connected = 0;
    for (const auto& one : scene.client->diagnostics().key_value)
        connected += one.bucket == "travel" && one.state == couchbase::endpoint_state::connected;
    EXPECT_EQ(connected, 3u);
    const auto pinged = scene.run(scene.client->ping({}, use_awaitable));
    ASSERT_TRUE(pinged->good());
    EXPECT_TRUE((*pinged->outcome)->all_answered()) << (*pinged->outcome)->to_json();
}

TEST(couchbase_cluster, close_ends_operations_and_leaves_nothing_behind)
{
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    lab::couchbase::kv_fault silent;
    silent.silent = true;
    scene.fault_everywhere(kv_opcode::get, silent, lab::activation::always());
    const auto open = scene.start(scene.documents().get("a", {.timeout = 10s}, use_awaitable));
    scene.simulation.run_for(5ms);
    const auto close = [](couchbase::cluster what) -> runtime::awaitable<int> {
        co_await what.close();
        co_return 1;
    };
    ASSERT_TRUE(scene.wait_for(close(*scene.client)));
    ASSERT_TRUE(scene.finish([&] { return open->done(); }));
    EXPECT_EQ(open->code(), errc::closed) << open->explain();
    EXPECT_EQ(scene.get("b")->code(), errc::closed);
    scene.client.reset();
    scene.simulation.run_for(5s);
    EXPECT_EQ(scene.simulation.left().streams, 0u);
}

TEST(couchbase_cluster, cancelled_operation_ends_at_once_and_its_reply_is_dropped)
{
    kv_scene scene;
    scene.connect();
    scene.warm_up();
    lab::couchbase::kv_fault slow;
    slow.delay = 100ms;
    scene.fault(0, kv_opcode::get, slow, lab::activation::times(1));
    boost::asio::cancellation_signal stop;
    std::optional<error_code> code;
    const time_point began = scene.simulation.now();
    time_point ended{};
    scene.documents().get("a", {},
                          boost::asio::bind_cancellation_slot(stop.slot(), [&](const auto& got) {
                              code = got.error().code();
                              ended = scene.simulation.now();
                          }));
    scene.simulation.run_for(10ms);
    stop.emit(boost::asio::cancellation_type::terminal);
    ASSERT_TRUE(scene.finish([&] { return code.has_value(); }));
    EXPECT_EQ(*code, errc::request_canceled);
    EXPECT_EQ(ended - began, 10ms);
    EXPECT_EQ(scene.get("b")->code(), errc::document_not_found);
}

TEST(couchbase_cluster, unusable_settings_are_errors_of_the_constructor)
{
    kv_scene scene;
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &scene.app.world()};
    EXPECT_FALSE(couchbase::access::in_world(world, "http://n0"));
    couchbase::cluster_options options;
    options.authenticator = couchbase::bearer_token{secret{"jwt"}};
    const auto plain = couchbase::access::in_world(world, "couchbase://n0", options);
    ASSERT_FALSE(plain);
    EXPECT_EQ(plain.error().code(), errc::invalid_argument);
    const auto bad_name = couchbase::access::in_world(world, "couchbase://n0").value();
    scene.client.emplace(bad_name);
    const auto refused = scene.run(
        bad_name["travel"]["no scope!"]["c"].get("a", {.timeout = 1s}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::invalid_argument) << refused->explain();
}

TEST(couchbase_cluster, changed_password_works_after_set_authenticator)
{
    kv_scene scene;
    couchbase::cluster_options options;
    options.authenticator = kv_scene::login("wrong");
    scene.connect(options);
    EXPECT_EQ(scene.get("a")->code(), errc::authentication_failure);
    scene.client->set_authenticator(kv_scene::login());
    scene.simulation.run_for(1s);
    EXPECT_EQ(scene.get("a")->code(), errc::document_not_found);
}

}  // namespace
}  // namespace holdfast::couchbase_cluster_test
