// sim_determinism --seeds A..B: a busy minute for each seed, and a line of what came of it. run.py
// compares the lines of two processes, or of two builds.
#include "runtime/wait.hpp"
#include "sim/simulation.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::world;

constexpr std::uint16_t port = 27017;
constexpr int servers = 3, clients = 2, workers = 4;

duration up_to(world& in, duration longest)
{
    return duration{static_cast<duration::rep>(in.chance() * static_cast<double>(longest.count()))};
}

/// Five hosts on a bad day: echo servers, and clients that have deadlines and try again.
class bad_day {
public:
    explicit bad_day(std::uint64_t seed) : net{seed}
    {
        for (int n = 0; n < servers + clients; ++n) {
            hosts.push_back(&net.add_host((n < servers ? "server" : "client") + std::to_string(n)));
            boot(*hosts.back());
        }
        net.set_dns_latency(2ms);
        plan_fault();
    }

    bool run()
    {
        net.run_until(net.now() + 60s);
        std::printf("%016llx %llu\n", static_cast<unsigned long long>(net.trace_hash()),
                    static_cast<unsigned long long>(net.events()));
        if (wrong > 0 || exchanged == 0)
            std::printf("%zu exchanges, of which %zu were wrong\n", exchanged, wrong);
        return wrong == 0 && exchanged > 0;
    }

private:
    void boot(sim::host& which)
    {
        if (which.name().starts_with("server")) {
            which.start(serve(which));
        } else {
            for (int n = 0; n < workers; ++n)
                which.start(work(which.world()));
        }
    }

    awaitable<void> serve(sim::host& on)
    {
        auto at = on.world().listen({"", port});
        for (;;) {
            auto taken = co_await (*at)->accept();
            if (!taken)
                co_return;
            on.start(echo(on.world(), std::move(*taken)));
        }
    }

    awaitable<void> echo(world& in, runtime::stream_ptr with)
    {
        std::vector<std::uint8_t> buffer(4096);
        for (;;) {
            with->expires_at(in.steady_now() + 5s);
            const auto got = co_await with->read_some(buffer);
            if (got.why)
                co_return;
            if (in.chance() < 0.1) {
                const duration pause = up_to(in, 50ms);
                co_await runtime::sleep_until(in, in.steady_now() + pause);
            }
            const auto why = co_await write_all(*with, {buffer.data(), got.bytes});
            if (why)
                co_return;
        }
    }

    awaitable<void> work(world& in)
    {
        for (;;) {
            const int to = static_cast<int>(in.chance() * servers);
            runtime::destination where{"server" + std::to_string(to), port};
            auto made = co_await in.connect(std::move(where), in.steady_now() + 700ms);
            if (made) {
                runtime::stream& with = **made;
                bool fine = true;
                while (fine && in.chance() < 0.95)
                    fine = co_await exchange(in, with);
            } else {
                net.note(made.error().message());
            }
            const duration pause = up_to(in, 100ms);
            co_await runtime::sleep_until(in, in.steady_now() + pause);
        }
    }

    awaitable<bool> exchange(world& in, runtime::stream& with)
    {
        std::vector<std::uint8_t> sent(1 + static_cast<std::size_t>(in.chance() * 3000));
        in.random(sent);
        with.expires_at(in.steady_now() + 400ms);
        error_code why = co_await write_all(with, sent);
        std::vector<std::uint8_t> got(sent.size());
        std::size_t length = 0;
        while (!why && length < got.size()) {
            const auto more = co_await with.read_some(std::span{got}.subspan(length));
            length += more.bytes;
            why = more.why;
        }
        ++exchanged;
        wrong += !std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(length),
                             sent.begin());
        const auto wall = in.wall_now().time_since_epoch().count();
        net.note((why ? "failed at " : "done at ") + std::to_string(wall));
        co_return !why;
    }

    std::uint64_t one_of(std::uint64_t count) { return net.random() % count; }
    sim::host& some_host() { return *hosts[one_of(hosts.size())]; }
    time_point soon(std::uint64_t milliseconds)
    {
        return net.now() + std::chrono::milliseconds{1 + one_of(milliseconds)};
    }

    void plan_fault()
    {
        net.at_time(soon(400), [this] {
            fault();
            plan_fault();
        });
    }

    void fault()
    {
        sim::host& one = some_host();  // named, since compilers differ in the order of arguments
        sim::host& other = some_host();
        const std::uint64_t size = 1 + one_of(10'000);
        switch (one_of(8)) {
        case 0:
            return crash(one);
        case 1:
            return freeze(one);
        case 2:
            return part(one, other);
        case 3:
            return net.reset_connections(one, other);
        case 4:
            return one.jump_wall_clock(std::chrono::milliseconds{size} - 5s);
        case 5:
            return change_names();
        case 6:
            return change_link(one, other);
        default:
            return one.set_receive_buffer(size);
        }
    }

    void crash(sim::host& which)
    {
        if (!which.running())
            return;
        which.crash(net.chance() < 0.5);
        net.at_time(soon(2000),
                    [this, &which] { which.restart([this](sim::host& self) { boot(self); }); });
    }

    void freeze(sim::host& which)
    {
        which.freeze();
        net.at_time(soon(1000), [&which] { which.thaw(); });
    }

    void part(sim::host& one, sim::host& other)
    {
        if (net.chance() < 0.5)
            net.partition(one, other);
        else
            net.partition_one_way(one, other);
        net.at_time(soon(1500), [this, &one, &other] { net.heal(one, other); });
    }

    void change_names()
    {
        const std::string name = "server" + std::to_string(one_of(servers));
        const std::string& good = net.at(name).address();
        net.set_addresses(name, {"10.7.7.7", hosts[one_of(servers)]->address()});
        net.at_time(soon(2000), [this, name, good] {
            net.set_addresses(name, {good});
            net.set_dns_failing(false);
        });
        net.set_dns_failing(net.chance() < 0.2);
    }

    void change_link(sim::host& one, sim::host& other)
    {
        sim::link link_state;
        link_state.latency_max = std::chrono::microseconds{100 + one_of(20'000)};
        link_state.loss = net.chance() * 0.1;
        link_state.reset = net.chance() * 0.002;
        link_state.bytes_per_ms = net.chance() < 0.3 ? 500 + one_of(5000) : 0;
        net.set_link(one, other, link_state);
    }

    sim::simulation net;
    std::vector<sim::host*> hosts;
    std::size_t exchanged = 0;
    std::size_t wrong = 0;
};

bool number(std::string_view text, std::uint64_t& into)
{
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), into);
    return why == std::errc{} && end == text.data() + text.size();
}

}  // namespace
}  // namespace holdfast

int main(int count, char** description)
{
    const std::string_view range = count == 3 ? description[2] : "";
    const std::size_t dots = range.find("..");
    std::uint64_t first = 0, last = 0;
    if (dots == range.npos || std::string_view{description[1]} != "--seeds" ||
        !holdfast::number(range.substr(0, dots), first) ||
        !holdfast::number(range.substr(dots + 2), last)) {
        std::fputs("usage: sim_determinism --seeds A..B\n", stderr);
        return 2;
    }
    bool good = true;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        std::printf("%llu ", static_cast<unsigned long long>(seed));
        good = holdfast::bad_day{seed}.run() && good;
    }
    return good ? 0 : 1;
}
