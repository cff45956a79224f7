// TLS between a client and the lab's cluster, on sockets: certificates of servers and of clients,
// and tokens, which need it.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/certificates.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>

namespace holdfast::couchbase_socket_tls_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using proof::best_of;
using proof::certificates;
using proof::reasons_of;
using proof::use_awaitable;

class couchbase_socket_tls : public ::testing::Test {
protected:
    static lab::couchbase_options with(const std::string& certificate)
    {
        lab::couchbase_options options;
        options.nodes = 2;
        options.tls_certificate = certificates::file(certificate);
        return options;
    }
    void connect(couchbase::cluster_options options = {})
    {
        scene.connect_to(scene.lab.tls_uri() + "?trust_certificate=" + certificates::file("ca.pem"),
                         std::move(options));
    }
    void present(const std::string& certificate)
    {
        scene.command("tls all " + certificates::file(certificate));
    }
    /// All nodes want clients' certificates, and take them for the login of "ada".
    void demand_certificates()
    {
        scene.command("tls all " + certificates::file("server.pem") + " " +
                      certificates::file("ca.pem") + " ada");
    }

    proof::socket_scene scene{with("server.pem")};
};

TEST_F(couchbase_socket_tls, documents_are_stored_and_read_with_tls)
{
    connect();
    scene.warm_up();
    EXPECT_TRUE(scene.get("warm1")->good());
}

TEST_F(couchbase_socket_tls, untrusted_certificate_is_named_within_200_ms_and_its_successor_works)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    VERIFIES_BY_TRAFFIC("CR-040");
    for (const std::string name : {"untrusted.pem", "expired.pem", "other_host.pem"}) {
        SCOPED_TRACE(name);
        const auto once = [&] {
            present(name);
            connect();
            const auto refused = scene.get("a");
            EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
            EXPECT_EQ(reasons_of(refused->error()).back(), "TLS_ERROR");
            EXPECT_NE(refused->error().message().find("certificate"), std::string::npos)
                << refused->error().message();
            return refused->took();
        };
        EXPECT_LT(best_of(5, 200ms, once), 200ms);
        present("server.pem");
        const auto began = std::chrono::steady_clock::now();
        const auto works = [&] { return scene.get("a")->code() == errc::document_not_found; };
        EXPECT_TRUE(scene.finish(works, 5s));
        const auto took = std::chrono::steady_clock::now() - began;
        EXPECT_LT(took, 1s);
    }
}

TEST_F(couchbase_socket_tls, operation_that_waits_goes_on_when_the_certificate_is_replaced)
{
    VERIFIES_BY_TRAFFIC("CR-033");
    VERIFIES_BY_TRAFFIC("CR-060");
    present("untrusted.pem");
    couchbase::cluster_options options;
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>();
    connect(std::move(options));
    const auto impatient = scene.get("a", {.timeout = 100ms});
    EXPECT_EQ(impatient->code(), errc::unambiguous_timeout) << impatient->explain();
    EXPECT_EQ(reasons_of(impatient->error()).back(), "TLS_ERROR");
    const auto waits = scene.start(scene.documents().get("a", {.timeout = 10s}, use_awaitable));
    present("server.pem");
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
}

TEST_F(couchbase_socket_tls, node_without_the_service_is_service_not_available)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-050");
    connect();
    scene.warm_up();
    // It serves documents still, but not to clients with TLS.
    scene.command("service 1 kvSSL 0");
    std::optional<error> why;
    const auto is_refused = [&] {
        for (int n = 0; n != 8 && !why; ++n) {
            const auto one = scene.get("warm" + std::to_string(n), {.timeout = 100ms});
            if (!one->good() && reasons_of(one->error()).front() == "SERVICE_NOT_AVAILABLE")
                why = one->error();
        }
        return why.has_value();
    };
    ASSERT_TRUE(scene.finish(is_refused));
    EXPECT_EQ(why->code(), errc::unambiguous_timeout) << why->explain();
    EXPECT_NE(why->message().find("never sent"), std::string::npos) << why->message();
    EXPECT_EQ(why->history()[0].phase, dispatch_phase::not_sent);
}

TEST_F(couchbase_socket_tls, client_certificate_is_a_login)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    demand_certificates();
    couchbase::cluster_options options;
    options.authenticator = couchbase::client_certificate{certificates::file("client.pem"), {}};
    connect(std::move(options));
    scene.warm_up();
}

TEST_F(couchbase_socket_tls, client_certificate_that_is_rejected_is_a_tls_error)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    demand_certificates();
    couchbase::cluster_options options;
    options.authenticator = couchbase::client_certificate{certificates::file("untrusted.pem"), {}};
    connect(std::move(options));
    const auto refused = scene.get("a", {.timeout = 5s});
    EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
    ASSERT_FALSE(refused->error().history().empty());
    EXPECT_EQ(reasons_of(refused->error()).back(), "TLS_ERROR");
}

TEST_F(couchbase_socket_tls, token_is_a_login_and_a_rejected_one_fails_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    scene.command("token good.jwt.token ada");
    couchbase::cluster_options options;
    options.authenticator = couchbase::bearer_token{secret{"good.jwt.token"}};
    connect(options);
    scene.warm_up();
    options.authenticator = couchbase::bearer_token{secret{"bad.jwt.token"}};
    connect(options);
    const auto refused = scene.get("a", {.timeout = 5s});
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
}

}  // namespace
}  // namespace holdfast::couchbase_socket_tls_test
