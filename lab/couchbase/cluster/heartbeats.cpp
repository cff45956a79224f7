#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "lab/couchbase/cluster/state.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::chrono::milliseconds shortest_pause{10};

/// One question that every node answers at once, and its answer.
runtime::awaitable<bool> ping(runtime::stream& to)
{
    bson::byte_buffer out;
    core::couchbase::request_frame noop;
    (void)core::couchbase::write_request(out, noop);
    const error_code unsent = co_await runtime::write_all(to, out.bytes());
    core::couchbase::frame_reader reader;
    while (!unsent) {
        const auto next = reader.next();
        if (!next)
            break;
        if (std::holds_alternative<core::couchbase::frame>(*next))
            co_return true;
        const runtime::io_result got = co_await to.read_some(reader.writable());
        if (got.why)
            break;
        reader.received(got.bytes);
    }
    co_return false;
}

/// The same of a node without data, whose management service answers, and closes.
runtime::awaitable<bool> ping_by_http(runtime::stream& to)
{
    constexpr std::string_view request =
        "GET / HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n";
    const std::vector<std::uint8_t> bytes{request.begin(), request.end()};
    const error_code unsent = co_await runtime::write_all(to, bytes);
    std::array<std::uint8_t, 256> reply{};
    bool answered = false;
    while (!unsent) {
        const runtime::io_result got = co_await to.read_some(reply);
        answered = answered || got.bytes != 0;
        if (got.why)
            break;
    }
    co_return answered;
}

/// Nodes without data have none for key-value.
runtime::destination heartbeat_port(const cluster_member& of)
{
    return {peer_host(of.at), of.port_of(of.has_data() ? "kv" : "mgmt")};
}

}  // namespace

runtime::awaitable<void> cluster_state::watch(std::size_t number, std::uint64_t generation)
{
    runtime::world& here = manager();
    runtime::stream_ptr stream;
    while (generation == watches && member(number).in_view) {
        const auto pause = std::max(silence / 5, shortest_pause);
        const time_point next = here.steady_now() + pause;
        const bool has_data = member(number).has_data();
        if (!stream) {
            const runtime::destination where = heartbeat_port(member(number));
            auto connected = co_await here.connect(where, next);
            if (connected)
                stream = *std::move(connected);
        }
        if (stream) {
            stream->expires_at(next);
            bool answered = false;
            if (has_data)
                answered = co_await ping(*stream);
            else
                answered = co_await ping_by_http(*stream);
            if (answered)
                member(number).last_seen = here.steady_now();
            if (!answered || !has_data)
                stream.reset();
        }
        if (generation != watches)
            break;
        check_silence();
        const auto end = co_await runtime::sleep_until(here, next);
        if (end == runtime::wait_end::cancelled)
            break;
    }
}

void cluster_state::check_silence()
{
    const time_point now = manager().steady_now();
    for (std::size_t n = 0; n != members.size(); ++n) {
        cluster_member& one = *members[n];
        if (one.in_view && now - one.last_seen > silence && loses_nothing(one.entry.id))
            (void)fail_over(n, std::chrono::milliseconds{0});
    }
}

void cluster::auto_failover(std::chrono::milliseconds after)
{
    cluster_state& all = *state_;
    all.silence = after;
    const std::uint64_t generation = ++all.watches;
    if (after.count() == 0)
        return;
    for (std::size_t n = 0; n != all.members.size(); ++n) {
        cluster_member& one = all.member(n);
        if (!one.in_view)
            continue;
        one.last_seen = all.manager().steady_now();
        all.tasks->start(all.watch(n, generation));
    }
}

}  // namespace holdfast::lab::couchbase
