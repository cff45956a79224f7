#include "client/traffic.hpp"
#include "core/mongo/error/errc.hpp"
#include "holdfast/mongo/error.hpp"
#include "runtime/wait.hpp"
#include "support/other_world.hpp"

#include <boost/asio/co_spawn.hpp>

namespace holdfast::proof::opening_test {
namespace {

using namespace std::chrono_literals;
using boost::asio::cancellation_type;
using mongo::error_kind;
using mongo::kind_of;

/// A world whose name server takes its time.
class slow_dns_world final : public other_world {
public:
    using other_world::other_world;

    runtime::awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(
        std::string name, time_point until) override
    {
        ++asked;
        const time_point ready = steady_now() + takes;
        const runtime::wait_end end = co_await runtime::sleep_until(*this, std::min(ready, until));
        if (end == runtime::wait_end::cancelled)
            co_return error{runtime::errc::cancelled, "cancelled"};
        if (steady_now() < ready)
            co_return error{runtime::errc::name_lookup_failed, "no answer came"};
        auto found = co_await other_world::resolve_srv(std::move(name), until);
        if (before_answer)
            before_answer();
        co_return found;
    }

    duration takes{};
    std::size_t asked = 0;
    std::function<void()> before_answer;
};

/// A client whose only seed has to be looked up.
struct looked_up {
    scene s{{.hosts = {"h1.home.test"}}};
    std::shared_ptr<slow_dns_world> world = std::make_shared<slow_dns_world>(s.app.world());

    explicit looked_up(duration takes)
    {
        world->takes = takes;
        s.simulation.set_srv("_mongodb._tcp.cluster.home.test",
                             {{.host = "h1.home.test", .port = 27017}});
        s.connect_in(world, "mongodb+srv://cluster.home.test/?tls=false");
    }
};

TEST(client_srv_lookup, srv_lookup_ends_with_the_deadline_of_its_operation)
{
    looked_up l{1h};
    const operation& late = l.s.run(ping_command(), {.timeout = 100ms});
    ASSERT_FALSE(late.good());
    EXPECT_EQ(late.took(), 100ms);
    EXPECT_EQ(kind_of(late.outcome->error()), error_kind::timeout) << late.explain();
    l.world->takes = 1ms;
    const operation& next = l.s.run(ping_command());
    EXPECT_TRUE(next.good()) << next.explain();
    expect_clean(l.s);
}

TEST(client_srv_lookup, operation_waiting_for_a_shared_lookup_keeps_its_deadline)
{
    looked_up l{10s};
    const operation& first = l.s.start(ping_command());
    l.s.simulation.run_for(10ms);
    const operation& hasty = l.s.start(ping_command(), {.timeout = 100ms});
    const operation& patient = l.s.start(ping_command());
    ASSERT_TRUE(l.s.finish_all());
    EXPECT_EQ(hasty.took(), 100ms);
    ASSERT_FALSE(hasty.good());
    EXPECT_EQ(kind_of(hasty.outcome->error()), error_kind::timeout) << hasty.explain();
    EXPECT_TRUE(first.good()) << first.explain();
    EXPECT_TRUE(patient.good()) << patient.explain();
    EXPECT_EQ(l.world->asked, 1u);
    expect_clean(l.s);
}

TEST(client_srv_lookup, next_operation_repeats_a_lookup_that_timed_out)
{
    looked_up l{1s};
    const operation& hasty = l.s.start(ping_command(), {.timeout = 100ms});
    l.s.simulation.run_for(10ms);
    const operation& patient = l.s.start(ping_command());
    ASSERT_TRUE(l.s.finish_all());
    EXPECT_EQ(kind_of(hasty.outcome->error()), error_kind::timeout) << hasty.explain();
    EXPECT_TRUE(patient.good()) << patient.explain();
    EXPECT_EQ(l.world->asked, 2u);
    expect_clean(l.s);
}

TEST(client_srv_lookup, next_operation_repeats_a_lookup_that_was_cancelled)
{
    looked_up l{1s};
    operation& gone = l.s.start(ping_command());
    l.s.simulation.run_for(10ms);
    const operation& waits = l.s.start(ping_command());
    l.s.simulation.run_for(10ms);
    gone.stop.emit(cancellation_type::terminal);
    ASSERT_TRUE(l.s.finish_all());
    EXPECT_EQ(kind_of(gone.outcome->error()), error_kind::cancelled) << gone.explain();
    EXPECT_TRUE(waits.good()) << waits.explain();
    expect_clean(l.s);
}

/// With a slot of its own: what is emitted arrives at once, wherever the coroutine is.
struct at_end {
    using cancellation_slot_type = boost::asio::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return stop->slot(); }
    void operator()(std::exception_ptr exception_ptr) const { *thrown = std::move(exception_ptr); }

    boost::asio::cancellation_signal* stop;
    std::exception_ptr* thrown;
};

runtime::awaitable<void> ping(mongo::client with, std::optional<result<bson::document>>& outcome)
{
    const bson::document command = ping_command();
    auto got = co_await with.run_command("sea", command, {}, boost::asio::use_awaitable);
    outcome.emplace(std::move(got));
}

TEST(client_srv_lookup, cancellation_between_srv_and_txt_leaves_the_client_usable)
{
    looked_up l{1ms};
    boost::asio::cancellation_signal stop;
    std::exception_ptr thrown;
    std::optional<result<bson::document>> outcome;
    l.world->before_answer = [&] { stop.emit(cancellation_type::terminal); };
    boost::asio::co_spawn(l.world->executor(), ping(*l.s.client, outcome), at_end{&stop, &thrown});
    l.s.simulation.run_for(1s);
    EXPECT_FALSE(thrown);
    ASSERT_TRUE(outcome);
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(kind_of(outcome->error()), error_kind::cancelled) << outcome->error().explain();
    l.world->before_answer = nullptr;
    const operation& next = l.s.run(ping_command());
    EXPECT_TRUE(next.good()) << next.explain();
    expect_clean(l.s);
}

TEST(client_srv_lookup, unresolvable_hosts_fail_fast_and_name_the_cause)
{
    scene s{{.hosts = {"a"}}};
    s.connect_to("mongodb://nowhere,absent/");
    const operation& op = s.run(ping_command());
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    EXPECT_LT(op.took(), 100ms) << "selection may last 30 s";
    EXPECT_EQ(kind_of(op.outcome->error()), error_kind::selection) << op.explain();
    EXPECT_EQ(op.outcome->error().context("cause"), "no such host") << op.explain();
    expect_clean(s);
}

TEST(client_srv_lookup, different_failures_wait_for_server_selection_timeout_ms)
{
    scene s{{.hosts = {"a"}}};
    s.connect_to("mongodb://nowhere,a:1/?serverSelectionTimeoutMS=1000");  // no listener there
    const operation& op = s.run(ping_command());
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    EXPECT_EQ(op.took(), 1s);
    EXPECT_EQ(op.outcome->error().context("cause"), "") << op.explain();
    expect_clean(s);
}

TEST(client_srv_lookup, unsupported_auth_mechanism_is_invalid_option)
{
    scene s{{.hosts = {"a"}}};
    s.connect_to("mongodb://ada@a/?authMechanism=GSSAPI");
    const operation& op = s.run(ping_command());
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    const error& why = op.outcome->error();
    EXPECT_EQ(why.code(), core::mongo::errc::invalid_option) << op.explain();
    EXPECT_EQ(kind_of(why), error_kind::client) << "nothing was sent";
    EXPECT_EQ(why.context("option"), "authMechanism");
    EXPECT_EQ(s.close(), "");
    EXPECT_TRUE(s.events().all().empty()) << "a topology that was never opened";
}

}  // namespace
}  // namespace holdfast::proof::opening_test
