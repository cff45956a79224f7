#include "lab/mongo/set/command_forwarding.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <utility>

namespace holdfast::lab::mongo {

void command_forwarding::stop() noexcept
{
    connections_->stopped = true;
    for (peer* const line : connections_->open)
        line->cancel();
}

runtime::awaitable<result<bson::document>> command_forwarding::forward(std::string primary_host,
                                                                       const request& what)
{
    using namespace std::chrono_literals;
    const std::shared_ptr<connections> all = connections_;
    if (primary_host.empty() || all->stopped)
        co_return refuse(server_code::not_writable_primary, "not primary, and no primary is known");
    const time_point now = context_.now();
    auto line = co_await context_.connect_to(std::move(primary_host), now + 1s);
    if (!line)
        co_return refuse(server_code::host_unreachable, line.error().message());
    if (all->stopped)
        co_return refuse(server_code::interrupted_at_shutdown, "interrupted at shutdown");
    peer* const to = line->get();
    all->open.push_back(to);
    // Also when the frame is destroyed: a host that crashes takes its coroutines with it.
    const std::shared_ptr<void> listed{nullptr, [all, to](void*) { std::erase(all->open, to); }};
    const auto limit = std::chrono::milliseconds{what.max_time_ms.value_or(0)};
    const auto reply = co_await to->forward(what.message, what.body, now + limit + 60s);
    if (!reply)
        co_return refuse(server_code::host_unreachable, reply.error().message());
    co_return bson::document{*reply};
}

}  // namespace holdfast::lab::mongo
