// Facts that explain why a request to a service cannot be sent: the terminal reasons, by a query.
#include "client/couchbase/lab_services_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_query_facts_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using lab::handshake_fault;
using proof::lab_services_scene;
using proof::labels_of;
using proof::observing_strategy;
using proof::reply_of;
using proof::reply_with_rows;
using proof::server_tls;
using proof::status_fault;
using proof::use_awaitable;

std::shared_ptr<observing_strategy> connect_patiently(lab_services_scene& scene)
{
    auto strategy = std::make_shared<observing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    scene.connect(options);
    return strategy;
}

TEST(couchbase_query_facts, rejected_login_ends_a_query_at_once_and_is_waited_for_if_wanted)
{
    VERIFIES_BY_TRAFFIC("CR-031");
    for (const bool patient : {false, true}) {
        lab_services_scene scene{{.nodes = 2}};
        scene.answer("n1ql", reply_with_rows({"1"}));
        for (std::size_t n = 0; n != 2; ++n)
            scene.fault(n, kv_opcode::sasl_auth, status_fault(kv_status::auth_error),
                        activation::always());
        if (!patient) {
            scene.connect();
            const auto refused = scene.query("SELECT 1");
            EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
            EXPECT_LT(refused->took(), 100ms);
            EXPECT_EQ(labels_of(refused->error()).back(), "AUTHENTICATION_ERROR");
            EXPECT_EQ(scene.asked("n1ql"), 0u);
            continue;
        }
        const auto strategy = connect_patiently(scene);
        auto rows = scene.client->query("UPDATE x SET y = 1");
        const auto waits = scene.start(rows.all<couchbase::raw_json>(use_awaitable));
        scene.simulation.run_for(1s);
        EXPECT_FALSE(waits->done());
        EXPECT_TRUE(strategy->was_asked_for(retry_reason::authentication_error));
        scene.clear_faults();
        ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
        EXPECT_TRUE(waits->good()) << waits->explain();
    }
}

TEST(couchbase_query_facts, password_that_the_service_itself_rejects_is_an_answer)
{
    lab_services_scene scene{{.nodes = 1}};
    scene.connect_and_wait();
    scene.answer("n1ql", reply_of(401, R"({"errors":[{"code":13014,"msg":"no rights"}]})"));
    const auto refused = scene.query("SELECT 1");
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
    EXPECT_EQ(scene.asked("n1ql"), 1u);
}

TEST(couchbase_query_facts, untrusted_certificate_ends_a_query_at_once_until_it_is_replaced)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    lab_services_scene scene{{.nodes = 2, .certificate = "untrusted.pem"}};
    scene.answer("n1ql", reply_with_rows({"1"}));
    scene.connect();
    const auto refused = scene.query("SELECT 1");
    EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
    EXPECT_LT(refused->took(), 200ms);
    EXPECT_NE(refused->error().message().find("certificate"), std::string::npos)
        << refused->explain();
    EXPECT_EQ(labels_of(refused->error()).back(), "TLS_ERROR");
    for (std::size_t n = 0; n != 2; ++n)
        scene.cluster->set_tls(n, server_tls("wildcard.pem"), handshake_fault::none);
    scene.simulation.run_for(1s);
    const auto mended = scene.query("SELECT 1");
    EXPECT_TRUE(mended->good()) << mended->explain();
}

TEST(couchbase_query_facts, names_of_buckets_scopes_and_collections_are_no_reasons_of_a_query)
{
    VERIFIES_BY_TRAFFIC("CR-038");
    lab_services_scene scene{{.nodes = 2}};
    const auto strategy = connect_patiently(scene);
    // A bucket that cannot be opened and a collection that is not there are known as such.
    const auto missing = scene.run((*scene.client)["nowhere"].default_collection().get(
        "a", {.timeout = 300ms}, use_awaitable));
    EXPECT_TRUE(strategy->was_asked_for(retry_reason::bucket_access_error)) << missing->explain();
    const auto unknown = scene.run(
        (*scene.client)["travel"].collection("none").get("a", {.timeout = 300ms}, use_awaitable));
    EXPECT_TRUE(strategy->was_asked_for(retry_reason::collection_not_found)) << unknown->explain();
    strategy->asked.clear();
    for (std::size_t n = 0; n != 2; ++n)
        ASSERT_TRUE(scene.cluster->close_port(n, "n1ql"));
    auto rows = (*scene.client)["nowhere"]["none"].query("SELECT 1", {.timeout = 2s});
    const auto late = scene.run(rows.all<couchbase::raw_json>(use_awaitable));
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_FALSE(strategy->asked.empty());
    for (const auto& one : strategy->asked) {
        EXPECT_NE(one.reason, retry_reason::bucket_access_error);
        EXPECT_NE(one.reason, retry_reason::scope_not_found);
        EXPECT_NE(one.reason, retry_reason::collection_not_found);
    }
}

}  // namespace
}  // namespace holdfast::couchbase_query_facts_test
