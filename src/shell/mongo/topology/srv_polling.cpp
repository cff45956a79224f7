#include "core/mongo/sdam/srv_poll.hpp"
#include "shell/mongo/topology/topology.hpp"

#include <utility>
#include <vector>

namespace holdfast::shell::mongo {

/// Looks the names up again and again, as long as the topology is one whose servers come from them.
runtime::awaitable<void> topology::poll_srv(std::weak_ptr<topology> which, runtime::world& in,
                                            srv_polling polling)
{
    duration wait = polling.first_wait;
    for (;;) {
        const runtime::wait_end end = co_await runtime::sleep_until(in, in.steady_now() + wait);
        if (end == runtime::wait_end::cancelled)
            co_return;
        if (const auto self = which.lock(); !self || !self->wants_srv(polling))
            co_return;
        const time_point until = in.steady_now() + polling.timeout;
        const auto found = co_await in.resolve_srv(polling.query, until);
        const auto self = which.lock();
        if (!self)
            co_return;
        const auto next = self->resolved(found, polling);
        if (!next)
            co_return;
        wait = *next;
    }
}

bool topology::wants_srv(const srv_polling& polling) const
{
    const std::scoped_lock lock{mutex_};
    return !closed_ && core::mongo::polls_srv(*known_, polling.rules.srv);
}

std::optional<duration> topology::resolved(const result<std::vector<runtime::srv_record>>& found,
                                           const srv_polling& polling)
{
    std::vector<core::mongo::srv_host> hosts;
    std::vector<double> chances;
    if (found) {
        for (const runtime::srv_record& one : *found) {
            hosts.push_back({one.host, one.port, std::chrono::seconds{one.ttl}});
            chances.push_back(world_.chance());
        }
    }
    const auto answer = found ? result<std::vector<core::mongo::srv_host>>{std::move(hosts)}
                              : result<std::vector<core::mongo::srv_host>>{found.error()};
    std::optional<duration> next;
    change([&] {
        auto outcome = core::mongo::apply_srv_poll(known_, answer, polling.rules, chances);
        next = outcome.next;
        return std::optional{std::move(outcome.change)};
    });
    return next;
}

}  // namespace holdfast::shell::mongo
