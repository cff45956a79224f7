#include "client/prose/lab_scene.hpp"

/// Prose tests 1 to 3 of the specification "Connection Monitoring and Pooling", as listeners see
/// them; what the options do, and 4 and 5: tests/client/pool_test.cpp.
namespace holdfast::proof::pool_options_test {
namespace {

using namespace std::chrono_literals;

class limits_recorder final : public mongo::event_listener {
public:
    void on(const events::pool_created& e) noexcept override { all.push_back(e); }
    std::vector<events::pool_created> all;
};

TEST(prose_connection_pooling, 1_to_3_every_pool_has_the_connection_string_options)
{
    lab_scene s{{.routers = 2}};
    const auto heard = std::make_shared<limits_recorder>();
    mongo::client_options options;
    options.listeners.push_back(heard);
    s.connect(
        "&maxPoolSize=7&minPoolSize=2&maxConnecting=3&maxIdleTimeMS=4000"
        "&waitQueueTimeoutMS=5000",
        options);
    s.open();
    s.simulation.run_for(1s);
    ASSERT_EQ(heard->all.size(), 2U);
    for (const events::pool_created& one : heard->all) {
        EXPECT_EQ(one.limits.max_size, 7U);
        EXPECT_EQ(one.limits.min_size, 2U);
        EXPECT_EQ(one.limits.max_connecting, 3U);
        EXPECT_EQ(one.limits.max_idle_time, 4000ms);
        EXPECT_EQ(one.limits.wait_queue_timeout, 5000ms);
    }
    EXPECT_NE(heard->all[0].server, heard->all[1].server);
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::pool_options_test
