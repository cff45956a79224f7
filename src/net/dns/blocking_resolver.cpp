#include "net/dns/asking_resolver.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace holdfast::net {
namespace {

/// The sockets as poll() wants them.
class polled_sockets final : public socket_watcher {
public:
    void watch(int socket, bool for_read, bool for_write) noexcept override
    {
        std::erase_if(all_, [socket](const pollfd& one) { return one.fd == socket; });
        const int events = (for_read ? POLLIN : 0) | (for_write ? POLLOUT : 0);
        if (events != 0)
            all_.push_back({socket, static_cast<short>(events), 0});
    }

    /// Those that are ready, after the time at most.
    std::vector<pollfd> wait(duration time)
    {
        const auto round_up = std::chrono::ceil<std::chrono::milliseconds>(time);
        constexpr std::chrono::milliseconds longest = std::chrono::hours{1};
        const auto bounded = std::clamp(round_up, std::chrono::milliseconds{0}, longest);
        if (::poll(all_.data(), all_.size(), static_cast<int>(bounded.count())) <= 0)
            return {};  // by time, or by a signal
        std::vector<pollfd> ready = all_;
        std::erase_if(ready, [](const pollfd& one) { return one.revents == 0; });
        return ready;
    }

private:
    std::vector<pollfd> all_;
};

class blocking_resolver final : public asking_resolver {
public:
    blocking_resolver(runtime::world& in, const dns_settings& settings)
        : asking_resolver{in}, settings_{settings}
    {
    }

private:
    runtime::awaitable<result<found>> ask(question what, time_point until) override
    {
        co_return wait_for_answer(what, until);
    }

    result<found> wait_for_answer(const question& what, time_point until)
    {
        polled_sockets sockets;
        query asked{settings_, what, sockets};
        while (!asked.outcome()) {
            const time_point now = world_.steady_now();
            if (now >= until)
                return lookup_timed_out(what);
            const auto ready = sockets.wait(std::min(until, asked.due(now)) - now);
            for (const pollfd& one : ready) {
                const bool broken = (one.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
                asked.process(one.fd, broken || (one.revents & POLLIN) != 0,
                              (one.revents & POLLOUT) != 0);
            }
            if (ready.empty())
                asked.process_time();
        }
        return *std::move(asked.outcome());
    }

    dns_settings settings_;
};

}  // namespace

std::unique_ptr<resolver> make_blocking_resolver(runtime::world& in, const dns_settings& settings)
{
    return std::make_unique<blocking_resolver>(in, settings);
}

}  // namespace holdfast::net
