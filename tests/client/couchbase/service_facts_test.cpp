// What connections that follow the cluster have seen, as requests to HTTP services meet it.
#include "client/couchbase/retry_support.hpp"
#include "client/couchbase/service_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/certificates.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_service_facts_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using proof::http_ok;
using proof::http_seen;
using proof::labels_of;
using proof::observing_strategy;
using proof::service_scene;
using proof::service_wish;

TEST(couchbase_service_facts, first_request_with_a_wrong_password_fails_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-031");
    service_scene scene{{.nodes = 2}};
    auto& service = scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
    couchbase::cluster_options options;
    options.authenticator = service_scene::login("wrong");
    scene.connect(options);
    const auto refused = scene.request();
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
    EXPECT_LT(refused->took(), 100ms);
    EXPECT_EQ(labels_of(refused->error()).back(), "AUTHENTICATION_ERROR");
    EXPECT_TRUE(service.seen().empty());
}

TEST(couchbase_service_facts, request_that_waits_for_a_login_goes_on_when_it_succeeds)
{
    VERIFIES_BY_TRAFFIC("CR-031");
    service_scene scene;
    scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
    scene.fault(0, kv_opcode::sasl_auth, proof::status_fault(kv_status::auth_error),
                activation::always());
    const auto strategy = std::make_shared<observing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    scene.connect(options);
    service_wish wish;
    wish.idempotent = false;
    const auto waits = scene.start_request(wish);
    scene.simulation.run_for(400ms);
    EXPECT_FALSE(waits->done()) << waits->explain();
    EXPECT_EQ(strategy->reasons(), std::vector<retry_reason>{retry_reason::authentication_error});
    scene.clear_faults();
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

TEST(couchbase_service_facts, certificate_that_is_not_trusted_fails_the_first_request_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    service_scene scene{{.certificate = "untrusted.pem"}};
    scene.serve(0, [](const http_seen&) { return http_ok("{}"); }, "n1qlSSL", 18093);
    scene.connect();
    const auto refused = scene.request();
    EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
    EXPECT_LT(refused->took(), 200ms);
    EXPECT_EQ(labels_of(refused->error()).back(), "TLS_ERROR");
}

TEST(couchbase_service_facts, certificate_of_the_service_alone_is_the_reason_as_well)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    service_scene scene{{.certificate = "wildcard.pem"}};
    auto& service = scene.serve(
        0, [](const http_seen&) { return http_ok("{}"); }, "n1qlSSL", 18093);
    service.use_tls(proof::server_tls("untrusted.pem"));
    scene.connect();
    const auto refused = scene.request();
    EXPECT_EQ(labels_of(refused->error()).back(), "TLS_ERROR") << refused->explain();
    EXPECT_LT(refused->took(), 200ms);
    service.use_tls(proof::server_tls("wildcard.pem"));
    const auto done = scene.request();
    EXPECT_TRUE(done->good()) << done->explain();
    EXPECT_EQ((*done->outcome)->server.value(), "n0.example.com:18093");
}

TEST(couchbase_service_facts, bucket_that_cannot_be_opened_is_no_reason_for_a_service)
{
    VERIFIES_BY_TRAFFIC("CR-038");
    service_scene scene{{.nodes = 2}};
    scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
    scene.connect();
    const auto missing = (*scene.client)["nowhere"].default_collection();
    const auto lost = scene.run(missing.get("a", {.timeout = 300ms}, proof::use_awaitable));
    EXPECT_EQ(labels_of(lost->error()).back(), "BUCKET_ACCESS_ERROR");
    service_wish wish;
    wish.bucket = "nowhere";
    const auto done = scene.request(wish);
    EXPECT_TRUE(done->good()) << done->explain();

    // Nor when there is no node that could be asked.
    scene.cluster->set_service(0, "n1ql", 0);
    scene.simulation.run_for(100ms);
    const auto strategy = std::make_shared<observing_strategy>();
    wish.strategy = strategy;
    wish.timeout = 200ms;
    EXPECT_EQ(scene.request(wish)->code(), errc::unambiguous_timeout);
    EXPECT_EQ(strategy->reasons(), std::vector<retry_reason>{retry_reason::service_not_available});
}

}  // namespace
}  // namespace holdfast::couchbase_service_facts_test
