// Logging in, opening buckets, finding collections, on sockets: what fails at once, and what mends
// itself.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_socket_login_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_status;
using couchbase::errc;
using proof::answer_with;
using proof::reasons_of;
using proof::use_awaitable;

/// For those who want to wait for what usually does not mend itself.
couchbase::cluster_options patient()
{
    couchbase::cluster_options options;
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>();
    return options;
}

class couchbase_socket_login : public ::testing::Test {
protected:
    proof::socket_scene scene{{.nodes = 3}};
};

TEST_F(couchbase_socket_login, login_that_is_refused_once_is_no_error_for_the_patient)
{
    VERIFIES_BY_TRAFFIC("CR-032");
    scene.fault("sasl_auth", answer_with(kv_status::auth_error, 3));
    scene.connect(patient());
    const auto one = scene.upsert("a", "{}");
    EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(scene.hits("sasl_auth"), 3);
}

TEST_F(couchbase_socket_login, login_that_breaks_off_is_no_authentication_error)
{
    VERIFIES_BY_TRAFFIC("CR-032");
    VERIFIES_BY_TRAFFIC("CR-045");
    for (const std::string operation : {"sasl_auth", "sasl_step"}) {
        scene.lab.clear_faults();
        scene.fault(operation, proof::cut_before());
        scene.connect();
        const auto late = scene.get("a", {.timeout = 150ms});
        EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
        for (const std::string& reason : reasons_of(late->error()))
            EXPECT_NE(reason, "AUTHENTICATION_ERROR");
    }
}

struct proof_row {
    const char* name;
    std::string body;
};

TEST_F(couchbase_socket_login, server_without_the_right_proof_gets_no_request)
{
    VERIFIES_BY_TRAFFIC("CR-031");
    VERIFIES_BY_TRAFFIC("CR-034");
    VERIFIES_BY_TRAFFIC("CR-039");
    const std::vector<proof_row> rows{
        {"no proof", ""},
        {"wrong proof", "v=AAAA"},
        {"proof by another key", "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="},
        {"no base64", "v=!"},
        {"something else", "hello"},
    };
    for (const proof_row& row : rows) {
        SCOPED_TRACE(row.name);
        lab::couchbase_fault welcome = answer_with(kv_status::success);
        welcome.body = row.body;
        scene.fault("sasl_step", welcome);
        for (const std::string operation : {"select_bucket", "get", "get_cluster_config"})
            scene.count(operation);
        scene.connect();
        const auto refused = scene.get("a", {.timeout = 5s});
        EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
        for (const std::string operation : {"select_bucket", "get", "get_cluster_config"})
            EXPECT_EQ(scene.arrived(operation), 0) << operation;
    }
    scene.lab.clear_faults();
    scene.connect();
    EXPECT_TRUE(scene.upsert("a", "{}")->good());
}

TEST_F(couchbase_socket_login, success_without_a_second_step_is_refused)
{
    VERIFIES_BY_TRAFFIC("CR-039");
    scene.fault("sasl_auth", answer_with(kv_status::success));
    scene.count("get");
    scene.connect();
    const auto refused = scene.get("a", {.timeout = 5s});
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
    EXPECT_EQ(scene.arrived("get"), 0);
}

TEST_F(couchbase_socket_login, stale_login_replaces_the_connection_and_the_operation_goes_on)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    scene.connect();
    scene.warm_up();
    scene.count("hello");
    scene.fault("upsert", answer_with(kv_status::auth_stale, 1));
    const auto one = scene.upsert("a", "{}");
    EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(scene.arrived("hello"), 1) << "one new connection";
    scene.command("expire-logins ada");
    for (int n = 0; n != 8; ++n)
        EXPECT_TRUE(scene.get("warm" + std::to_string(n))->good());
}

TEST_F(couchbase_socket_login, changed_password_works_after_set_authenticator)
{
    scene.connect();
    scene.warm_up();
    ASSERT_TRUE(scene.lab.set_user("ada", "byron"));
    couchbase::cluster_options options;
    options.authenticator = proof::socket_scene::login("lovelace");
    scene.connect(options);
    EXPECT_EQ(scene.get("a")->code(), errc::authentication_failure);
    scene.client->set_authenticator(proof::socket_scene::login("byron"));
    const auto works = [&] { return scene.get("a")->code() == errc::document_not_found; };
    EXPECT_TRUE(scene.finish(works, 5s));
}

TEST_F(couchbase_socket_login, bucket_without_rights_is_named_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    VERIFIES_BY_TRAFFIC("CR-041");
    ASSERT_TRUE(scene.lab.create_bucket("secret"));
    ASSERT_TRUE(scene.lab.set_user("ada", "lovelace", {"travel"}));
    scene.connect();
    scene.warm_up();
    const auto closed = (*scene.client)["secret"].default_collection();
    const auto refused = scene.run(closed.get("a", {.timeout = 5s}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
    EXPECT_NE(refused->error().message().find("secret"), std::string::npos);
    EXPECT_EQ(reasons_of(refused->error()).back(), "BUCKET_ACCESS_ERROR");
    EXPECT_TRUE(scene.get("warm1")->good());
}

TEST_F(couchbase_socket_login, bucket_that_one_node_does_not_have_is_no_error)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    lab::couchbase_fault absent = answer_with(kv_status::not_found, 3);
    absent.nodes = {1};
    scene.fault("select_bucket", absent);
    scene.connect();
    for (int n = 0; n != 16; ++n) {
        const auto one = scene.upsert("a" + std::to_string(n), "{}");
        EXPECT_TRUE(one->good()) << one->explain();
    }
    EXPECT_EQ(scene.hits("select_bucket"), 3);
}

TEST_F(couchbase_socket_login, bucket_that_is_created_later_is_found_by_a_patient_operation)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    VERIFIES_BY_TRAFFIC("CR-060");
    scene.connect(patient());
    scene.warm_up();
    scene.count("select_bucket");
    const auto later = (*scene.client)["later"].default_collection();
    const auto waits = scene.start(later.get("a", {.timeout = 10s}, use_awaitable));
    ASSERT_TRUE(scene.finish([&] { return scene.arrived("select_bucket") >= 6; }));
    EXPECT_FALSE(waits->done());
    ASSERT_TRUE(scene.lab.create_bucket("later"));
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
}

TEST_F(couchbase_socket_login, collection_that_is_created_later_is_found_by_a_patient_operation)
{
    VERIFIES_BY_TRAFFIC("CR-037");
    VERIFIES_BY_TRAFFIC("CR-043");
    VERIFIES_BY_TRAFFIC("CR-060");
    scene.connect(patient());
    scene.warm_up();
    scene.count("get_collection_id");
    const auto later = (*scene.client)["travel"].collection("later");
    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(later.upsert("a", content, {.timeout = 10s}, use_awaitable));
    ASSERT_TRUE(scene.finish([&] { return scene.arrived("get_collection_id") >= 3; }));
    EXPECT_FALSE(waits->done());
    ASSERT_TRUE(scene.lab.create_collection("travel", "_default", "later"));
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

TEST_F(couchbase_socket_login, collection_that_is_made_again_under_traffic_fails_no_operation)
{
    VERIFIES_BY_TRAFFIC("CR-053");
    VERIFIES_BY_TRAFFIC("CR-082");
    ASSERT_TRUE(scene.lab.create_collection("travel", "_default", "airline"));
    scene.connect(patient());
    const auto airlines = (*scene.client)["travel"].collection("airline");
    const couchbase::raw_json content{"{}"};
    for (int round = 0; round != 3; ++round) {
        std::vector<proof::kv_run<couchbase::mutation_result>> all;
        for (int n = 0; n != 30; ++n) {
            if (n == 10) {
                ASSERT_TRUE(scene.lab.drop_collection("travel", "_default", "airline"));
                ASSERT_TRUE(scene.lab.create_collection("travel", "_default", "airline"));
            }
            all.push_back(scene.start(airlines.upsert("k" + std::to_string(n), content,
                                                      {.timeout = 10s}, use_awaitable)));
        }
        ASSERT_TRUE(scene.finish(
            [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
        for (const auto& one : all)
            EXPECT_TRUE(one->good()) << one->explain();
        const auto last = scene.run(airlines.get("k29", {}, use_awaitable));
        EXPECT_TRUE(last->good()) << last->explain();
    }
}

TEST_F(couchbase_socket_login, node_behind_with_its_manifest_is_waited_for)
{
    VERIFIES_BY_TRAFFIC("CR-082");
    scene.connect(patient());
    scene.warm_up();
    scene.command("hold-manifest 1 on");
    ASSERT_TRUE(scene.lab.create_collection("travel", "_default", "late"));
    const auto late = (*scene.client)["travel"].collection("late");
    const couchbase::raw_json content{"{}"};
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    for (int n = 0; n != 12; ++n)
        all.push_back(scene.start(
            late.upsert("k" + std::to_string(n), content, {.timeout = 10s}, use_awaitable)));
    const auto count = [&] {
        return std::ranges::count_if(all, [](const auto& one) { return one->done(); });
    };
    scene.count("upsert");
    scene.finish([&] { return count() != 0 || scene.arrived("upsert") != 0; }, 200ms);
    scene.command("hold-manifest 1 off");
    ASSERT_TRUE(scene.finish([&] { return count() == 12; }));
    for (const auto& one : all)
        EXPECT_TRUE(one->good()) << one->explain();
}

}  // namespace
}  // namespace holdfast::couchbase_socket_login_test
