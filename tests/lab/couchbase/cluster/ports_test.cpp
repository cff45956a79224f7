#include "lab/couchbase/cluster/http_in_sim.hpp"
#include "lab/couchbase/mgmt/management.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::ports_test {
namespace {

using namespace std::chrono_literals;

class lab_couchbase_ports : public testing::Test {
protected:
    std::shared_ptr<dialled_port> dial(const std::string& place, std::string sent)
    {
        return couchbase::dial(lab, place, std::move(sent));
    }
    static std::string get(const std::string& path) { return http_text("GET", path); }

    std::shared_ptr<open_tls> tls = std::make_shared<open_tls>();
    cluster_in_sim lab{2, 0, 1, [this](cluster_options& options) {
                           options.tls = tls;
                           options.services = {{"mgmt", make_management, {}}};
                           for (node_place& one : options.nodes)
                               one.external_host = "out-" + one.host;
                       }};
};

TEST_F(lab_couchbase_ports, every_service_has_its_port_and_a_second_one_for_tls)
{
    for (const char* const service : {"mgmt", "mgmtSSL"}) {
        const auto page = dial(lab.made->address(0, service), get("/pools"));
        EXPECT_TRUE(page->bytes.starts_with("HTTP/1.1 200 OK")) << service;
        EXPECT_TRUE(page->over);
    }
    EXPECT_EQ(tls->accepted, 1);
    EXPECT_NE(lab.made->tls_address(0), "");
    EXPECT_EQ(lab.made->address(0, "n1ql"), "");
}

TEST_F(lab_couchbase_ports, alternate_addresses_have_ports_of_their_own_that_are_announced)
{
    const auto config = boost::json::parse(
        lab.link(0).ask({.opcode = kv_opcode::get_cluster_config}).value);
    const auto& node = config.at("nodesExt").at(1);
    const auto& external = node.at("alternateAddresses").at("external");
    EXPECT_EQ(external.at("hostname"), "out-n1");
    for (const char* const service : {"kv", "kvSSL", "mgmt", "mgmtSSL"}) {
        const auto port = external.at("ports").at(service).as_int64();
        EXPECT_NE(port, node.at("services").at(service).as_int64()) << service;
        EXPECT_EQ(lab.made->external_address(1, service), "out-n1:" + std::to_string(port));
        EXPECT_TRUE(dial("n1:" + std::to_string(port), "")->connected) << service;
    }
    lab.made->set_alternate_address(1, alternate_address{"elsewhere", {}});
    const auto next = boost::json::parse(
        lab.link(0).ask({.opcode = kv_opcode::get_cluster_config}).value);
    const auto& same_ports = next.at("nodesExt").at(1).at("alternateAddresses").at("external");
    EXPECT_FALSE(same_ports.as_object().contains("ports"));
}

TEST_F(lab_couchbase_ports, ports_are_the_same_after_a_restart)
{
    const std::string before = lab.made->address(1, "mgmtSSL");
    lab.crash(1);
    EXPECT_FALSE(dial(before, "")->connected);
    lab.restart(1);
    EXPECT_EQ(lab.made->address(1, "mgmtSSL"), before);
    EXPECT_TRUE(dial(before, "")->connected);
}

TEST_F(lab_couchbase_ports, f10_handshake_is_answered_by_garbage_an_alert_silence_or_the_end)
{
    const std::string at = lab.made->tls_address(0);
    lab.made->set_tls(0, nullptr, handshake_fault::garbage);
    EXPECT_EQ(dial(at, "hello")->bytes, "garbage");
    lab.made->set_tls(0, nullptr, handshake_fault::alert);
    EXPECT_EQ(dial(at, "hello")->bytes, std::string("\x15\x03\x03\x00\x02\x02\x28", 7));
    lab.made->set_tls(0, nullptr, handshake_fault::cut);
    const auto cut = dial(at, "hello");
    EXPECT_TRUE(cut->over && cut->bytes.empty());
    lab.made->set_tls(0, nullptr, handshake_fault::silent);
    const auto silent = dial(at, "hello");
    EXPECT_TRUE(!silent->over && silent->bytes.empty());
    const int before = tls->accepted;
    lab.made->set_tls(0, nullptr, handshake_fault::none);
    (void)dial(at, "hello");
    EXPECT_EQ(tls->accepted, before + 1);
}

TEST_F(lab_couchbase_ports, f10_next_handshake_uses_the_new_certificate)
{
    auto other = std::make_shared<open_tls>();
    lab.made->set_tls(0, other, handshake_fault::none);
    (void)dial(lab.made->tls_address(0), "x");
    (void)dial(lab.made->tls_address(1), "x");
    EXPECT_EQ(other->accepted, 1);
    lab.crash(0);
    lab.restart(0);
    (void)dial(lab.made->tls_address(0), "x");
    EXPECT_EQ(other->accepted, 2);
}

TEST_F(lab_couchbase_ports, client_with_a_certificate_needs_no_login)
{
    lab.made->at(0).options.certificate_user = "ada";
    kv_link secure{lab.made->at(0), true};
    EXPECT_EQ(secure.ask({.opcode = kv_opcode::select_bucket, .key = "travel"}).status,
              kv_status::success);
    kv_link plain{lab.made->at(0), false};
    EXPECT_EQ(plain.ask({.opcode = kv_opcode::select_bucket, .key = "travel"}).status,
              kv_status::no_access);
}

TEST_F(lab_couchbase_ports, token_lets_its_user_in_until_it_ends)
{
    const auto log_in = [&](const std::string& token) {
        kv_link link{lab.made->at(1), true};
        return link
            .ask({.opcode = kv_opcode::sasl_auth,
                  .key = "OAUTHBEARER",
                  .value = "n,,\1auth=Bearer " + token + "\1\1"})
            .status;
    };
    EXPECT_EQ(log_in("t"), kv_status::auth_error);
    lab.made->set_token("t", "ada");
    EXPECT_EQ(log_in("t"), kv_status::success);
    EXPECT_EQ(log_in("u"), kv_status::auth_error);
    lab.made->set_token("t", "");
    EXPECT_EQ(log_in("t"), kv_status::auth_error);
}

TEST_F(lab_couchbase_ports, frozen_node_does_not_answer_http_either)
{
    lab.made->freeze(0, true);
    const auto page = dial(lab.made->address(0, "mgmt"), get("/pools"));
    EXPECT_EQ(page->bytes, "");
    lab.made->freeze(0, false);
    lab.net.run_for(100ms);
    EXPECT_TRUE(page->bytes.starts_with("HTTP/1.1 200 OK"));
}

TEST_F(lab_couchbase_ports, streamed_configuration_arrives_when_it_changes)
{
    const std::string login = "Authorization: Basic YWRhOmxvdmVsYWNl\r\n";
    const auto stream = dial(lab.made->address(0, "mgmt"),
                             "GET /pools/default/bs/travel HTTP/1.1\r\n" + login + "\r\n");
    const auto blocks = [&] {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = stream->bytes.find("\n\n\n\n", at)) != std::string::npos;
             ++at)
            ++count;
        return count;
    };
    EXPECT_EQ(blocks(), 1u);
    lab.made->publish();
    lab.net.run_for(50ms);
    EXPECT_EQ(blocks(), 2u);
    EXPECT_FALSE(stream->over);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::ports_test
