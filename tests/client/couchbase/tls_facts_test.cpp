// Failures of TLS, of certificates and of tokens, on a lab cluster with TLS in the simulator.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "core/couchbase/settings/capella.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "net/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/other_world.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_tls_facts_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using lab::handshake_fault;
using proof::certificates;
using proof::kv_scene;
using proof::labels_of;
using proof::observing_strategy;
using proof::server_tls;
using proof::status_fault;
using proof::use_awaitable;

using reason_list = std::vector<retry_reason>;

void present(kv_scene& scene, const std::string& certificate)
{
    for (std::size_t n = 0; n != scene.cluster->nodes(); ++n)
        scene.cluster->set_tls(n, server_tls(certificate), handshake_fault::none);
}

TEST(couchbase_tls, operations_use_it_and_nothing_is_sent_without)
{
    kv_scene scene{{.nodes = 2, .certificate = "wildcard.pem"}};
    scene.connect();
    scene.warm_up();
    EXPECT_TRUE(scene.get("warm1")->good());
    for (const auto& one : scene.client->diagnostics().key_value)
        EXPECT_TRUE(one.server.value().ends_with(":11207")) << one.server.value();
}

TEST(couchbase_tls, untrusted_certificate_fails_at_once_by_name_until_it_is_replaced)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    VERIFIES_BY_TRAFFIC("CR-040");
    for (const std::string bad : {"untrusted.pem", "expired.pem", "server.pem"}) {
        SCOPED_TRACE(bad);
        kv_scene scene{{.nodes = 2, .certificate = bad}};
        scene.count_requests(kv_opcode::hello);
        scene.connect();
        const auto read = scene.get("a");
        EXPECT_EQ(read->code(), errc::generic_failure) << read->explain();
        EXPECT_LT(read->took(), 200ms);
        EXPECT_NE(read->error().message().find("TLS"), std::string::npos) << read->explain();
        EXPECT_NE(read->error().message().find("certificate"), std::string::npos);
        EXPECT_NE(read->error().message().find("n0.example.com:11207"), std::string::npos);
        const bool has_advice = read->error().message().find(
                                    "trust_certificate in the connection string, or its text by "
                                    "cluster_options::trusted_certificates") != std::string::npos;
        EXPECT_EQ(has_advice, bad == "untrusted.pem") << read->error().message();
        EXPECT_EQ(labels_of(read->error()).back(), "TLS_ERROR");
        const auto stored = scene.upsert("a", "{}");
        EXPECT_EQ(stored->code(), errc::generic_failure) << stored->explain();
        EXPECT_EQ(stored->error().context("may_have_been_applied"), "false");
        EXPECT_EQ(scene.counted(kv_opcode::hello), 0) << "something was sent to a stranger";

        present(scene, "wildcard.pem");
        scene.simulation.run_for(1s);
        const auto mended = scene.upsert("a", "{}");
        EXPECT_TRUE(mended->good()) << mended->explain();
    }
}

/// Keeps what TLS was asked for.
class recording_world final : public proof::other_world {
public:
    using other_world::other_world;
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override
    {
        asked = options;
        return net::make_tls(options);
    }

    runtime::tls_options asked;
};

TEST(couchbase_tls, capella_needs_no_certificate_of_its_issuer)
{
    sim::simulation simulation{1};
    sim::host& app = simulation.add_host("app");
    const auto world = std::make_shared<recording_world>(app.world());
    const auto asked_for = [&](const std::string& uri, const std::string& text = {}) {
        couchbase::cluster_options options;
        options.authenticator = kv_scene::login();
        options.trusted_certificates = text;
        (void)couchbase::access::in_world(world, uri, options).value();
        return world->asked;
    };
    const std::string hosted = "couchbases://cb.abc.cloud.couchbase.com";
    const auto usual = asked_for(hosted);
    EXPECT_FALSE(usual.ca_file);
    EXPECT_EQ(usual.ca_text, core::couchbase::capella_root_certificate());
    EXPECT_TRUE(usual.with_system_cas);

    const std::string file = certificates::file("ca.pem");
    const auto by_file = asked_for(hosted + "?trust_certificate=" + file);
    EXPECT_EQ(by_file.ca_file, file);
    EXPECT_FALSE(by_file.ca_text);
    EXPECT_FALSE(by_file.with_system_cas);
    const std::string own{core::couchbase::capella_root_certificate()};
    const auto by_text = asked_for(hosted, own + own);
    EXPECT_EQ(by_text.ca_text, own + own);
    EXPECT_FALSE(by_text.with_system_cas);
    EXPECT_FALSE(asked_for("couchbases://db.example.com").ca_text);
}

TEST(couchbase_tls, failed_handshake_is_a_fact_of_its_connection_and_goes_with_a_good_one)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    kv_scene scene{{.nodes = 2, .certificate = "wildcard.pem"}};
    const auto strategy = std::make_shared<observing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    scene.connect(options);
    scene.warm_up();
    EXPECT_TRUE(strategy->asked.empty());
    // The connections to one node are lost, and it has another certificate now.
    scene.cluster->set_tls(1, server_tls("untrusted.pem"), handshake_fault::none);
    scene.simulation.reset_connections(scene.app, scene.host_of(1));
    scene.simulation.run_for(60ms);
    EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good()) << "what is connected is used";
    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(
        scene.documents().upsert(scene.key_on(1), content, {.timeout = 5s}, use_awaitable));
    scene.simulation.run_for(300ms);
    EXPECT_FALSE(waits->done());
    EXPECT_EQ(strategy->reasons(), reason_list{retry_reason::tls_error});
    scene.cluster->set_tls(1, server_tls("wildcard.pem"), handshake_fault::none);
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
    EXPECT_LT(waits->took(), 1500ms);

    scene.simulation.run_for(3s);
    strategy->asked.clear();
    scene.fault(1, kv_opcode::hello, proof::cut_fault(), activation::times(3));
    scene.simulation.reset_connections(scene.app, scene.host_of(1));
    scene.simulation.run_for(3ms);
    EXPECT_TRUE(scene.upsert(scene.key_on(1), "{}")->good());
    EXPECT_EQ(strategy->reasons(), reason_list{retry_reason::socket_not_available});
}

TEST(couchbase_tls, handshake_that_fails_in_tls_is_a_fact_and_one_that_breaks_off_is_not)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    const std::pair<handshake_fault, retry_reason> faults[] = {
        {handshake_fault::garbage, retry_reason::tls_error},
        {handshake_fault::alert, retry_reason::tls_error},
        {handshake_fault::silent, retry_reason::socket_not_available},
        {handshake_fault::cut, retry_reason::socket_not_available},
    };
    for (const auto& [fault, expected] : faults) {
        SCOPED_TRACE(name_of(expected));
        kv_scene scene{{.nodes = 1, .certificate = "wildcard.pem"}};
        const auto strategy = std::make_shared<observing_strategy>();
        couchbase::cluster_options options;
        options.strategy = strategy;
        scene.connect(options, "?kv_connect_timeout=100ms");
        scene.warm_up();
        scene.cluster->set_tls(0, {}, fault);
        scene.simulation.reset_connections(scene.app, scene.host_of(0));
        scene.simulation.run_for(250ms);
        strategy->asked.clear();
        EXPECT_FALSE(scene.upsert("a", "{}", {.timeout = 500ms})->good());
        EXPECT_EQ(strategy->reasons(), reason_list{expected});
    }
}

TEST(couchbase_tls, certificate_of_the_client_that_is_rejected_is_a_failure_of_tls)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    kv_scene scene{{.nodes = 2, .certificate = "wildcard.pem"}};
    for (std::size_t n = 0; n != 2; ++n) {
        scene.node(n).options.certificate_user = "ada";
        scene.cluster->set_tls(n, server_tls("wildcard.pem", "other_ca.pem"),
                               handshake_fault::none);
    }
    couchbase::cluster_options options;
    options.authenticator = couchbase::client_certificate{certificates::file("client.pem")};
    scene.connect(options);
    const auto refused = scene.upsert("a", "{}");
    EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
    EXPECT_LT(refused->took(), 200ms);
    EXPECT_EQ(labels_of(refused->error()).back(), "TLS_ERROR");
    EXPECT_NE(refused->error().message().find("TLS"), std::string::npos) << refused->explain();
    EXPECT_EQ(refused->error().context("may_have_been_applied"), "false");

    for (std::size_t n = 0; n != 2; ++n)
        scene.cluster->set_tls(n, server_tls("wildcard.pem", "ca.pem"), handshake_fault::none);
    scene.simulation.run_for(1s);
    const auto mended = scene.upsert("a", "{}");
    EXPECT_TRUE(mended->good()) << mended->explain();
}

TEST(couchbase_tls, token_that_is_rejected_is_an_authentication_failure)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    kv_scene scene{{.nodes = 2, .certificate = "wildcard.pem"}};
    scene.cluster->set_token("good", "ada");
    couchbase::cluster_options options;
    options.authenticator = couchbase::bearer_token{secret{"expired"}};
    scene.connect(options);
    const auto refused = scene.get("a");
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
    EXPECT_LT(refused->took(), 100ms);
    EXPECT_EQ(labels_of(refused->error()).back(), "AUTHENTICATION_ERROR");

    scene.client->set_authenticator(couchbase::bearer_token{secret{"good"}});
    scene.simulation.run_for(1s);
    const auto let_in = scene.upsert("a", "{}");
    EXPECT_TRUE(let_in->good()) << let_in->explain();
}

TEST(couchbase_tls, facts_are_reported_in_the_order_of_the_rfc)
{
    VERIFIES_BY_TRAFFIC("CR-045");
    kv_scene scene{{.nodes = 3, .certificate = "wildcard.pem"}};
    // One node with a certificate that is not trusted, one that rejects the login, and all refuse
    // the bucket, in which neither scope nor collection are there.
    scene.cluster->set_tls(0, server_tls("untrusted.pem"), handshake_fault::none);
    const auto refuse_bucket = [&] {
        scene.fault_everywhere(kv_opcode::select_bucket, status_fault(kv_status::no_access),
                               activation::always());
    };
    refuse_bucket();
    scene.fault(1, kv_opcode::sasl_auth, status_fault(kv_status::auth_error), activation::always());
    const auto strategy = std::make_shared<observing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    scene.connect(options);
    const auto place = (*scene.client)["travel"]["s"]["c"];
    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(place.upsert("a", content, {.timeout = 60s}, use_awaitable));
    const auto present_reason = [&] {
        scene.simulation.run_for(1500ms);
        strategy->asked.clear();
        scene.simulation.run_for(1500ms);
        EXPECT_FALSE(waits->done()) << waits->explain();
        return strategy->reasons();
    };
    EXPECT_EQ(present_reason(), reason_list{retry_reason::authentication_error});
    scene.node(1).faults.clear();
    scene.fault(1, kv_opcode::select_bucket, status_fault(kv_status::no_access),
                activation::always());
    EXPECT_EQ(present_reason(), reason_list{retry_reason::tls_error});
    scene.cluster->set_tls(0, server_tls("wildcard.pem"), handshake_fault::none);
    EXPECT_EQ(present_reason(), reason_list{retry_reason::bucket_access_error});
    scene.clear_faults();
    EXPECT_EQ(present_reason(), reason_list{retry_reason::scope_not_found});
    scene.cluster->create_scope("travel", "s");
    EXPECT_EQ(present_reason(), reason_list{retry_reason::collection_not_found});
    scene.cluster->create_collection("travel", "s", "c");
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

}  // namespace
}  // namespace holdfast::couchbase_tls_facts_test
