// What keeps a request from being sent, on sockets: no node, no connection, a connection that takes
// nothing, an open circuit. A node without the service is in socket_tls_test.cpp.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_socket_obstacles_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_status;
using couchbase::errc;
using proof::reasons_of;
using proof::use_awaitable;

class couchbase_socket_obstacles : public ::testing::Test {
protected:
    couchbase_socket_obstacles()
    {
        scene.connect();
        scene.warm_up();
    }

    /// Reads until one is refused, for any of some documents; gives that error. All go by a new
    /// configuration at some time after it was made.
    std::optional<error> first_failure(std::string_view reason)
    {
        for (int n = 0; n != 200; ++n) {
            const auto one = scene.get("warm" + std::to_string(n % 8), {.timeout = 100ms});
            if (!one->good() && reasons_of(one->error()).front() == reason)
                return one->error();
        }
        return std::nullopt;
    }
    static void expect_never_sent(const error& why)
    {
        EXPECT_EQ(why.code(), errc::unambiguous_timeout) << why.explain();
        EXPECT_EQ(why.context("may_have_been_applied"), "false");
        EXPECT_NE(why.message().find("never sent"), std::string::npos) << why.message();
        for (const attempt& one : why.history())
            EXPECT_EQ(one.phase, dispatch_phase::not_sent);
    }

    proof::socket_scene scene{{.nodes = 2}};
};

TEST_F(couchbase_socket_obstacles, vbucket_without_a_node_is_node_not_available)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-051");
    ASSERT_TRUE(scene.lab.fail_over(1));
    const auto why = first_failure("NODE_NOT_AVAILABLE");
    ASSERT_TRUE(why);
    expect_never_sent(*why);
}

TEST_F(couchbase_socket_obstacles, node_that_takes_no_connections_is_socket_not_available)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-049");
    ASSERT_TRUE(scene.lab.crash(1));
    const auto why = first_failure("SOCKET_NOT_AVAILABLE");
    ASSERT_TRUE(why);
    expect_never_sent(*why);
    EXPECT_NE(why->message().find(scene.lab.address(1)), std::string::npos) << why->message();
    ASSERT_TRUE(scene.lab.restart(1));
    for (int n = 0; n != 8; ++n)
        EXPECT_TRUE(scene.get("warm" + std::to_string(n))->good());
}

/// Bytes that cannot be compressed.
couchbase::raw_bytes noise(std::size_t size)
{
    couchbase::raw_bytes made;
    made.bytes.resize(size);
    std::uint32_t state = 1;
    for (std::uint8_t& one : made.bytes) {
        state = state * 1664525 + 1013904223;
        one = static_cast<std::uint8_t>(state >> 24);
    }
    return made;
}

TEST_F(couchbase_socket_obstacles, connection_whose_server_does_not_read_is_socket_not_available)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    lab::couchbase_fault deaf;
    deaf.stop_reading = true;
    scene.fault("upsert", deaf);
    // More than the kernel's buffers and the client's own take.
    const couchbase::raw_bytes large = noise(1 << 20);
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    std::optional<error> why;
    for (int n = 0; n != 64 && !why; ++n) {
        all.push_back(
            scene.start(scene.documents().upsert("warm1", large, {.timeout = 10s}, use_awaitable)));
        const auto one = scene.upsert("warm1", "{}", {.timeout = 10ms});
        if (one->error().message().find("never sent") != std::string::npos)
            why = one->error();
    }
    ASSERT_TRUE(why) << "the buffers were never full";
    expect_never_sent(*why);
    EXPECT_EQ(reasons_of(*why).front(), "SOCKET_NOT_AVAILABLE");
    EXPECT_NE(why->explain().find("too many writes"), std::string::npos) << why->explain();
}

TEST(couchbase_socket_breaker, open_circuit_keeps_requests_away_and_closes_after_a_success)
{
    VERIFIES_BY_TRAFFIC("CR-056");
    proof::socket_scene scene{{}};
    couchbase::cluster_options options;
    couchbase::breaker_options breaker;
    breaker.volume = 5;
    breaker.sleep_window = 400ms;
    options.circuit_breaker = breaker;
    scene.connect(std::move(options));
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    scene.fault("get", proof::no_reply(16));
    const auto is_open = [&] {
        const auto one = scene.get("a", {.timeout = 5ms});
        return !one->good() && reasons_of(one->error()).front() == "CIRCUIT_BREAKER_OPEN";
    };
    ASSERT_TRUE(is_open() || scene.finish(is_open));
    const std::int64_t sent = scene.hits("get");
    const auto kept_away = scene.get("a", {.timeout = 10ms});
    EXPECT_EQ(kept_away->code(), errc::unambiguous_timeout) << kept_away->explain();
    EXPECT_EQ(reasons_of(kept_away->error()).front(), "CIRCUIT_BREAKER_OPEN");
    EXPECT_EQ(scene.hits("get"), sent) << "not written to the socket";

    scene.lab.clear_faults();
    scene.count("get");
    const auto patient = scene.get("a", {.timeout = 5s});
    EXPECT_TRUE(patient->good()) << patient->explain();
    EXPECT_EQ(scene.arrived("get"), 1) << "the trial request, and no other";
    EXPECT_TRUE(scene.get("a", {.timeout = 50ms})->good()) << "it is closed";
}

}  // namespace
}  // namespace holdfast::couchbase_socket_obstacles_test
