#pragma once
#include "runtime/wait.hpp"
#include "sim/simulation.hpp"

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

using boost::system::errc::connection_refused;
using boost::system::errc::connection_reset;
using boost::system::errc::operation_canceled;
using boost::system::errc::operation_would_block;
using boost::system::errc::timed_out;
using runtime::awaitable;
using runtime::stream_ptr;

inline constexpr duration latency = std::chrono::milliseconds{10};
inline constexpr std::uint16_t port = 27017;

inline std::span<const std::uint8_t> as_bytes(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// What came of a read, and when.
struct heard {
    error_code why = {};
    std::string text = {};
    duration at{};
};

/// A client and a server, 10 ms apart in each direction, so that every time is exact.
class two_hosts : public testing::Test {
protected:
    two_hosts() : two_hosts{1} {}
    explicit two_hosts(std::uint64_t seed) : net{seed}, began{net.now()}
    {
        net.set_all_links(exact);
        net.set_dns_latency({});
    }

    duration now() const { return net.now() - began; }

    /// A connected pair of streams; 30 ms have passed.
    void connect(time_point until = runtime::never)
    {
        server.start(take_one());
        client.start(dial(until));
        net.run_for(3 * latency);
        ASSERT_TRUE(at_client);
        ASSERT_TRUE(at_server);
    }
    awaitable<void> take_one()
    {
        auto listening = server.world().listen({"server", port});
        auto taken = co_await (*listening)->accept();
        at_server = std::move(taken).value();
        at_server_since = now();
    }
    awaitable<void> dial(time_point until)
    {
        runtime::destination where{"server", port};
        auto made = co_await client.world().connect(std::move(where), until);
        at_client_since = now();
        if (made)
            at_client = std::move(*made);
        else
            refusal = std::move(made).error();
    }

    awaitable<void> read_into(runtime::stream& from, heard& what)
    {
        std::vector<std::uint8_t> buffer(1 << 20);
        const auto done = co_await from.read_some(buffer);
        what.why = done.why;
        what.text.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(done.bytes));
        what.at = now();
    }
    awaitable<void> wait_writable(runtime::stream& to, heard& what)
    {
        const error_code why = co_await to.writable();
        what.why = why;
        what.at = now();
    }
    static runtime::io_result write(runtime::stream& to, std::string_view text)
    {
        return to.write_now(as_bytes(text));
    }

    static constexpr sim::link exact{.latency_min = latency, .latency_max = latency};

    sim::simulation net;
    time_point began;
    sim::host& client = net.add_host("client");
    sim::host& server = net.add_host("server");
    stream_ptr at_client;
    stream_ptr at_server;
    duration at_client_since{};
    duration at_server_since{};
    std::optional<error> refusal;
};

}  // namespace holdfast
