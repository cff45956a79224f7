// What options of connection strings and other logins do to traffic.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "support/certificates.hpp"
#include "support/dns_stub.hpp"
#include "support/verifies.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <fstream>
#include <iterator>

namespace holdfast::couchbase_connection_options_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using proof::certificates;
using proof::kv_scene;
using clock = std::chrono::steady_clock;

couchbase::cluster_options with(couchbase::authenticator login)
{
    couchbase::cluster_options options;
    options.authenticator = std::move(login);
    return options;
}
couchbase::cluster_options administrator()
{
    return with(couchbase::password{"Administrator", secret{"password"}});
}

/// How the first operation of a new client ends; success is that it finds no document.
error_code first_get(const std::string& uri, const couchbase::cluster_options& options,
                     std::chrono::milliseconds timeout = 5s)
{
    const couchbase::sync::cluster db{uri, options};
    const auto got = db["default"].default_collection().try_get("k", {.timeout = timeout});
    return got ? error_code{} : got.error().code();
}

TEST(couchbase_connection_options, alternate_addresses_are_used_if_asked_for_or_if_the_seed_is_one)
{
    auto lab = lab::couchbase_cluster::start(
                   {.nodes = 2, .host = "inside.invalid", .external_host = "127.0.0.1"})
                   .value();
    const std::string outside = lab.external_uri();
    EXPECT_EQ(first_get(outside + "?network=external", administrator()), errc::document_not_found);
    EXPECT_EQ(first_get(outside + "?network=auto", administrator()), errc::document_not_found);
    const couchbase::sync::cluster db{outside, administrator()};
    for (int n = 0; n != 32; ++n)
        db["default"].default_collection().upsert("k" + std::to_string(n),
                                                  couchbase::raw_json{"1"});
    // The names of the inside lead nowhere, so that only what is on the seeds' side is reached.
    EXPECT_EQ(first_get("couchbase://inside.invalid?network=default", administrator(), 300ms),
              errc::unambiguous_timeout);
}

TEST(couchbase_connection_options, srv_records_lead_to_the_nodes)
{
    kv_scene scene{{.nodes = 2}};
    scene.simulation.set_srv(
        "_couchbase._tcp.cluster.home.test",
        {{.host = "n0", .port = 11210, .ttl = 60}, {.host = "n1", .port = 11210, .ttl = 60}});
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &scene.app.world()};
    const auto options = with(kv_scene::login());
    scene.client.emplace(
        couchbase::access::in_world(world, "couchbase://cluster.home.test", options).value());
    EXPECT_EQ(scene.get("k")->code(), errc::document_not_found);
    // Without records the name itself is the host.
    scene.client.emplace(couchbase::access::in_world(world, "couchbase://n1", options).value());
    EXPECT_EQ(scene.get("k")->code(), errc::document_not_found);
    scene.client.emplace(
        couchbase::access::in_world(
            world, "couchbase://cluster.home.test?enable_dns_srv=false&kv_timeout=300ms", options)
            .value());
    EXPECT_EQ(scene.get("k")->code(), errc::unambiguous_timeout);
}

TEST(couchbase_connection_options, name_servers_can_be_chosen)
{
    auto lab = lab::couchbase_cluster::start().value();
    const std::string address = lab.address(0);
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)));
    proof::dns_stub names;
    names.add_address("node.home.test", "127.0.0.1");
    names.add_srv("_couchbase._tcp.cluster.home.test", {.host = "node.home.test", .port = port});
    const std::string chosen = "?dns_servers=" + names.address();
    EXPECT_EQ(first_get("couchbase://cluster.home.test" + chosen, administrator()),
              errc::document_not_found);
    EXPECT_GE(names.questions(), 2u);

    boost::asio::io_context loop;
    const couchbase::cluster db{loop.get_executor(), "couchbase://cluster.home.test" + chosen,
                                administrator()};
    auto ready = boost::asio::co_spawn(loop, db.ready(), boost::asio::use_future);
    while (ready.wait_for(0s) != std::future_status::ready)
        loop.run_one();
    EXPECT_NO_THROW(ready.get());
}

TEST(couchbase_connection_options, address_family_can_be_forced)
{
    auto lab = lab::couchbase_cluster::start({.host = "localhost"}).value();
    EXPECT_EQ(first_get(lab.uri() + "?ip_protocol=force_ipv4", administrator()),
              errc::document_not_found);
    const couchbase::sync::cluster db{lab.uri() + "?ip_protocol=force_ipv6", administrator()};
    const auto refused = db["default"].default_collection().try_get("k", {.timeout = 300ms});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::unambiguous_timeout);
    EXPECT_NE(refused.error().message().find("cannot connect to"), std::string::npos)
        << refused.error().message();
}

TEST(couchbase_connection_options, mutation_tokens_can_be_switched_off)
{
    auto lab = lab::couchbase_cluster::start().value();
    for (const bool wanted : {true, false}) {
        const couchbase::sync::cluster db{
            lab.uri() + "?enable_mutation_tokens=" + (wanted ? "true" : "false"), administrator()};
        const auto done = db["default"].default_collection().upsert("k", couchbase::raw_json{"1"});
        EXPECT_EQ(done.token.has_value(), wanted);
    }
}

TEST(couchbase_connection_options, each_bucket_has_so_many_connections_to_a_node)
{
    auto lab = lab::couchbase_cluster::start({.nodes = 2}).value();
    const auto connections = [&](const char* more) {
        const couchbase::sync::cluster db{lab.uri() + more, administrator()};
        db["default"].ready();
        std::size_t of_the_bucket = 0;
        for (const auto& one : db.diagnostics().key_value)
            of_the_bucket += one.bucket == "default" ? 1 : 0;
        return of_the_bucket;
    };
    EXPECT_EQ(connections(""), 2u);
    EXPECT_EQ(connections("?kv_connections=4"), 8u);
}

TEST(couchbase_connection_options, timeout_of_operations_is_that_of_the_string)
{
    kv_scene scene;
    scene.connect({}, "?kv_timeout=300ms&kv_durable_timeout=2s");
    scene.warm_up();
    scene.cluster->freeze(0, true);
    EXPECT_EQ(scene.get("k")->took(), 300ms);
    EXPECT_EQ(scene.upsert("k", "1")->took(), 300ms);
    EXPECT_EQ(scene.upsert("k", "1", {.durability = couchbase::durability::majority})->took(), 2s);
    EXPECT_EQ(scene.get("k", {.timeout = 70ms})->took(), 70ms);
}

TEST(couchbase_connection_options, few_requests_in_flight_serve_many_operations)
{
    kv_scene scene;
    scene.connect({}, "?max_in_flight=4");
    scene.warm_up();
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    const couchbase::raw_json content{"1"};
    for (int n = 0; n != 200; ++n)
        all.push_back(scene.start(
            scene.documents().upsert("k" + std::to_string(n), content, {}, proof::use_awaitable)));
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const auto& one : all)
        ASSERT_TRUE(one->good()) << one->explain();
}

class couchbase_other_logins : public ::testing::Test {
protected:
    static lab::couchbase_options secure()
    {
        lab::couchbase_options options;
        options.host = "localhost";
        options.tls_certificate = certificates::file("server.pem");
        return options;
    }
    std::string uri() const
    {
        return lab.tls_uri() + "?trust_certificate=" + certificates::file("ca.pem");
    }

    lab::couchbase_cluster lab = lab::couchbase_cluster::start(secure()).value();
};

TEST_F(couchbase_other_logins, issuers_of_server_certificates_can_be_given_as_text)
{
    std::ifstream from{certificates::file("ca.pem")};
    auto options = administrator();
    options.trusted_certificates = {std::istreambuf_iterator<char>{from}, {}};
    EXPECT_EQ(first_get(lab.tls_uri(), options), errc::document_not_found);
    options.trusted_certificates = "no certificate";
    const auto refused = couchbase::sync::cluster::create(lab.tls_uri(), options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("text of CA certificates"), std::string::npos)
        << refused.error().message();
}

TEST_F(couchbase_other_logins, client_certificate_is_a_login)
{
    VERIFIES("CR-046");
    ASSERT_TRUE(lab.command("tls all " + certificates::file("server.pem") + " " +
                            certificates::file("ca.pem") + " Administrator"));
    EXPECT_EQ(
        first_get(uri(), with(couchbase::client_certificate{certificates::file("client.pem")})),
        errc::document_not_found);
    couchbase::client_certificate locked{certificates::file("encrypted.pem")};
    locked.key_password = secret{certificates::password};
    EXPECT_EQ(first_get(uri(), with(locked)), errc::document_not_found);
    // A password is no certificate, and a certificate that the server does not trust is none.
    const auto began = clock::now();
    EXPECT_EQ(first_get(uri(), administrator()), errc::generic_failure);
    const couchbase::client_certificate foreign{certificates::file("untrusted.pem")};
    EXPECT_EQ(first_get(uri(), with(foreign)), errc::generic_failure);
    EXPECT_LT(clock::now() - began, 2s);
}

TEST_F(couchbase_other_logins, token_is_a_login_and_an_unknown_one_is_refused_at_once)
{
    VERIFIES("CR-046");
    ASSERT_TRUE(lab.command("token good Administrator"));
    EXPECT_EQ(first_get(uri(), with(couchbase::bearer_token{secret{"good"}})),
              errc::document_not_found);
    const auto began = clock::now();
    EXPECT_EQ(first_get(uri(), with(couchbase::bearer_token{secret{"bad"}})),
              errc::authentication_failure);
    EXPECT_LT(clock::now() - began, 1s);
}

TEST_F(couchbase_other_logins, password_by_tls_is_a_login)
{
    EXPECT_EQ(first_get(uri(), administrator()), errc::document_not_found);
    EXPECT_EQ(first_get(lab.tls_uri() + "?tls_verify=none", administrator()),
              errc::document_not_found);
    EXPECT_EQ(first_get(uri(), with(couchbase::password{"Administrator", secret{"wrong"}})),
              errc::authentication_failure);
}

}  // namespace
}  // namespace holdfast::couchbase_connection_options_test
