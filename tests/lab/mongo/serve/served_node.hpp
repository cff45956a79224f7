#pragma once
#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/json.hpp"
#include "lab/mongo/command/tables.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/serve/node_service.hpp"
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// A set of one, as a test wants it to be.
class pretended_set final : public membership {
public:
    bool primary = true;
    bool secondary = false;
    concern_state concern = concern_state::met;
    std::optional<error> refusal = {};
    write_concern usual = {};
    optime last = {};

    bool in_set() const noexcept override { return true; }
    bool writable() const noexcept override { return primary; }
    bool readable() const noexcept override { return primary || secondary; }
    bool arbiter() const noexcept override { return false; }
    std::int64_t term() const noexcept override { return 1; }
    void describe(bson::builder& hello, bool legacy) const override
    {
        hello.add(legacy ? "ismaster" : "isWritablePrimary", primary).add("setName", "rs");
    }
    concern_state check(const optime&, const write_concern&) const override { return concern; }
    result<void> accepts(const write_concern&) const override
    {
        if (refusal)
            return *refusal;
        return {};
    }
    write_concern default_concern() const override { return usual; }
    optime committed() const noexcept override { return last; }
    void wrote(const optime& at) override { last = at; }
    std::span<const command> commands() const noexcept override { return {}; }
};

inline result<progress> do_nothing(node&, request&, bson::builder&)
{
    return progress::done;
}
inline result<progress> do_write(node& on, request& what, bson::builder& reply)
{
    change note;
    const bson::document text = bson::doc("msg", "test");
    note.o = text;
    const auto written = on.write(note);
    if (!written)
        return written.error();
    what.wrote = *written;
    reply.add("n", 1);
    return progress::done;
}
/// Waits for three seconds, or for `fetched` news.
inline result<progress> do_wait(node&, request& what, bson::builder& reply)
{
    if (what.expired) {
        reply.add("expired", true);
        return progress::done;
    }
    what.wait_until = what.arrived + 3s;
    return progress::wait;
}
inline result<progress> do_close(node&, request& what, bson::builder&)
{
    what.close_after = true;
    return progress::done;
}
inline result<progress> do_stream(node&, request& what, bson::builder& reply)
{
    reply.add("part", ++what.seen);
    what.more_to_come = what.seen < 3;
    return progress::done;
}
inline constexpr command test_commands[] = {
    {.name = "ping", .run = do_nothing, .needs_login = false, .in_api_v1 = true},
    {.name = "read", .run = do_nothing, .reads_data = true},
    {.name = "find", .run = do_nothing, .reads_data = true},
    {.name = "stats", .run = do_nothing, .reads_data = true, .on_secondaries = true},
    {.name = "insert",
     .run = do_write,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "wait", .run = do_wait},
    {.name = "close", .run = do_close},
    {.name = "stream", .run = do_stream},
    {.name = "adminOnly", .run = do_nothing, .admin_only = true},
    {.name = "setParameter", .run = do_nothing, .admin_only = true},
};

/// One end of a connection, for tests that speak the protocol themselves.
struct test_client {
    runtime::stream_ptr stream;
    core::mongo::frame_reader reader;
    std::int32_t requests = 100;
    std::int32_t last_request = 0;   // of a reply: its number
    std::int32_t last_response_to = 0;
    bool more_to_come = false;
    core::mongo::op_code last_code = core::mongo::op_code::msg;
    bool closed = false;
};

/// A server and a client, 1 ms apart in each direction, on virtual time.
class served_node : public testing::Test {
protected:
    served_node()
    {
        sim::link exact;
        exact.latency_min = exact.latency_max = 1ms;
        net.set_all_links(exact);
        net.set_dns_latency({});
    }
    ~served_node() override { port.reset(); }

    void start(node_options options = {})
    {
        on_disk = std::make_shared<disk>();
        server = std::make_unique<node>(there.world(), on_disk, std::move(options));
        server->add_commands(hello_commands());
        server->add_commands(test_commands);
        behind = std::make_unique<node_service>(*server);
        service_port_options where;
        where.where.host = there.name();
        where.where.port = 27017;
        where.balancer = balancer;
        port = open_service_port(there.world(), *behind, where).value();
    }
    pretended_set& start_in_set(node_options options = {})
    {
        start(std::move(options));
        auto made = std::make_unique<pretended_set>();
        pretended_set& set = *made;
        server->member = std::move(made);
        return set;
    }

    runtime::awaitable<void> dial(test_client& into)
    {
        runtime::destination where{"server", 27017};
        auto made = co_await here.world().connect(std::move(where), runtime::never);
        if (made)
            into.stream = *std::move(made);
        else
            into.closed = true;
        ready = true;
    }
    std::unique_ptr<test_client> connect()
    {
        auto made = std::make_unique<test_client>();
        ready = false;
        here.start(dial(*made));
        net.run_while_not([this] { return ready; });
        return made;
    }

    void send_bytes(test_client& by, std::span<const std::uint8_t> bytes)
    {
        while (!bytes.empty()) {
            const auto gone = by.stream->write_now(bytes);
            bytes = bytes.subspan(gone.bytes);
            if (gone.why == boost::system::errc::operation_would_block)
                net.run_for(1ms);
            else if (gone.why)
                return;
        }
    }
    void send(test_client& by, bson::view command, core::mongo::message_flags flags = {})
    {
        bson::byte_buffer out;
        core::mongo::message_builder message{out, request_id{++by.requests}, flags};
        message.command().merge(command);
        send_bytes(by, message.finish().value());
    }

    runtime::awaitable<void> read_reply(test_client& by, std::vector<std::uint8_t>& into)
    {
        for (;;) {
            auto next = by.reader.next();
            if (!next)
                break;
            if (const auto* whole = std::get_if<core::mongo::frame>(&*next)) {
                into.assign(whole->bytes.begin(), whole->bytes.end());
                break;
            }
            const auto room = by.reader.writable();
            const auto got = co_await by.stream->read_some(room);
            if (got.why) {
                by.closed = true;
                break;
            }
            by.reader.received(got.bytes);
        }
        ready = true;
    }
    /// The bytes of the next message; none if the connection was closed, or nothing ever came.
    std::vector<std::uint8_t> receive_bytes(test_client& by)
    {
        std::vector<std::uint8_t> bytes;
        ready = false;
        here.start(read_reply(by, bytes));
        net.run_while_not([this] { return ready; });
        return bytes;
    }
    /// Empty if the connection was closed.
    bson::document receive(test_client& by)
    {
        const auto bytes = receive_bytes(by);
        if (bytes.empty())
            return {};
        const auto message = core::mongo::parse_reply(bytes);
        EXPECT_TRUE(message) << message.error().message();
        if (!message)
            return {};
        by.last_request = message->header.request.value();
        by.last_response_to = message->header.response_to.value();
        by.last_code = message->header.code;
        by.more_to_come = message->flags.more_to_come;
        return bson::document{message->body};
    }
    bson::document run(test_client& by, bson::view command)
    {
        send(by, command);
        return receive(by);
    }
    bson::document run(test_client& by, std::string_view json)
    {
        auto command = bson::from_json(json);
        EXPECT_TRUE(command) << json;
        return run(by, command->view());
    }

    static int code_of(const bson::document& reply)
    {
        const auto code = reply.get<std::int32_t>("code");
        return code ? *code : 0;
    }
    static std::string message_of(const bson::document& reply)
    {
        const auto text = reply.get<std::string>("errmsg");
        return text ? *text : std::string{};
    }
    static bool ok(const bson::document& reply)
    {
        const auto is = reply.get<double>("ok");
        return is && *is == 1;
    }
    static std::vector<std::string> labels_of(const bson::document& reply)
    {
        std::vector<std::string> labels;
        const bson::element list = reply.find("errorLabels");
        if (list.type() == bson::type::array)
            for (const bson::element& e : list.as_array())
                labels.emplace_back(e.as_string());
        return labels;
    }
    static std::string text_of(const bson::document& reply)
    {
        return bson::to_json(reply).value_or("?");
    }

    sim::simulation net{1};
    sim::host& here = net.add_host("client");
    sim::host& there = net.add_host("server");
    std::shared_ptr<disk> on_disk;
    std::unique_ptr<node> server;
    std::unique_ptr<node_service> behind;
    std::unique_ptr<open_port> port;
    bool balancer = false;
    bool ready = false;
};

}  // namespace holdfast::lab::mongo
