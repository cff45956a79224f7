#include "lab/mongo/serve/served_node.hpp"
#include "runtime/wait.hpp"

#include <array>

namespace holdfast::lab::mongo::port_test {
namespace {

using std::chrono_literals::operator""us;

/// A service that keeps what it is asked after it has gone. It is still there, so that nothing
/// breaks if one does.
class departing final : public service {
public:
    explicit departing(runtime::world& in) : lets_go{in}, news_{in} {}

    bool admits() override
    {
        note("admits");
        return true;
    }
    std::int64_t opened() override
    {
        note("opened");
        return ++connections;
    }
    void closed(client_facts&) override
    {
        note("closed");
        --connections;
    }
    result<progress> answer(request& what, bson::builder&) override
    {
        note("answer");
        what.wait_until = what.arrived + 1s;
        if (what.name == "later")
            return progress::later;
        return what.name == "wait" && !what.expired ? progress::wait : progress::done;
    }
    runtime::awaitable<result<void>> answer_later(request& what, bson::builder&) override
    {
        const bool fails = what.body.find("fails").operator bool();
        (void)co_await lets_go.wait(0);
        if (fails)
            co_return refuse(server_code::interrupted, "too late");
        co_return result<void>{};
    }
    void close_reply(const request&, bson::builder& reply) override
    {
        note("close_reply");
        reply.add("ok", 1.0);
    }
    void write_error(const request&, const error& why, bson::builder& reply) override
    {
        note("write_error");
        reply.add("ok", 0.0).add("code", why.code().value());
    }
    runtime::event& news() override
    {
        note("news");
        return news_;
    }
    std::optional<injected_fault> fault_for(const request& what) override
    {
        note("fault_for");
        if (what.name != "blocked")
            return std::nullopt;
        injected_fault slow;
        slow.delay = 5ms;
        return slow;
    }
    concern_state check_concern(const request&) override
    {
        note("check_concern");
        return concern_state::met;
    }

    bool gone = false;
    std::int64_t connections = 0;
    std::vector<std::string> asked_too_late = {};
    runtime::event lets_go;  // of those who answer later

private:
    void note(const char* what)
    {
        if (gone)
            asked_too_late.emplace_back(what);
    }
    runtime::event news_;
};

class port_of_departing : public served_node {
protected:
    void open()
    {
        service_port_options where;
        where.where = {there.name(), 27017};
        port = open_service_port(there.world(), gate, where).value();
    }
    void leave()
    {
        port.reset();
        gate.gone = true;
    }
    runtime::awaitable<void> leave_at(time_point when)
    {
        (void)co_await runtime::sleep_until(there.world(), when);
        leave();
    }
    void expect_silence()
    {
        EXPECT_EQ(gate.asked_too_late, std::vector<std::string>{});
        EXPECT_EQ(gate.connections, 0) << "each connection is closed once";
        EXPECT_EQ(net.left().alarms, 0U);
        EXPECT_EQ(net.left().listeners, 0U);
    }

    departing gate{there.world()};
};

TEST_F(port_of_departing, pending_answer_later_does_not_reach_the_service)
{
    open();
    const std::array<std::unique_ptr<test_client>, 2> clients = {connect(), connect()};
    send(*clients[0], bson::doc("later", 1, "$db", "admin"));
    send(*clients[1], bson::doc("later", 1, "fails", true, "$db", "admin"));
    net.run_for(10ms);
    EXPECT_EQ(gate.connections, 2);
    leave();
    gate.lets_go.notify();
    for (const auto& one : clients)
        EXPECT_TRUE(receive_bytes(*one).empty());
    net.run_for(10s);
    expect_silence();
}

/// Whatever a connection waits for, and whichever of the two comes first in the moment in which its
/// time is up.
TEST_F(port_of_departing, waiting_connection_does_not_reach_the_service)
{
    const bson::document commands[] = {
        bson::doc("wait", 1, "maxTimeMS", 5, "$db", "admin"),
        bson::doc("blocked", 1, "$db", "admin"),
        bson::doc("wait", 1, "$db", "admin"),
        bson::doc("ping", 1, "$db", "admin"),
    };
    for (const bson::document& command : commands) {
        for (const bool leaves_first : {true, false}) {
            SCOPED_TRACE(text_of(command) + (leaves_first ? " after" : " before"));
            gate.gone = false;
            open();
            const auto waits = connect();
            const auto idle = connect();
            const time_point up = net.now() + 1ms + 5ms;
            if (leaves_first)
                there.start(leave_at(up));
            send(*waits, command);
            net.run_for(2ms);
            if (!leaves_first)
                there.start(leave_at(up));
            net.run_for(10s);
            EXPECT_TRUE(gate.gone);
            (void)receive_bytes(*waits);
            EXPECT_TRUE(receive_bytes(*idle).empty());
            expect_silence();
        }
    }
}

TEST_F(port_of_departing, connection_of_that_moment_does_not_reach_the_service)
{
    for (const auto moment : {0us, 500us, 999us, 1000us, 1001us, 2000us}) {
        gate.gone = false;
        open();
        test_client late;
        there.start(leave_at(net.now() + moment));
        here.start(dial(late));
        net.run_for(1s);
        EXPECT_TRUE(gate.gone);
        expect_silence();
    }
}

}  // namespace
}  // namespace holdfast::lab::mongo::port_test
