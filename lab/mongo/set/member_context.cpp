#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/address.hpp"
#include "lab/mongo/set/set_member.hpp"

#include <utility>

namespace holdfast::lab::mongo {

using runtime::awaitable;

awaitable<result<std::unique_ptr<peer>>> set_member::connect_to(std::string host, time_point until)
{
    auto where = read_address(host);
    if (!where)
        co_return std::move(where).error();
    auto made = co_await peer::connect(node_.world, *std::move(where), options_.tls, until,
                                       node_.options.cluster_key);
    co_return made;
}

awaitable<std::optional<bson::document>> set_member::call(std::string host, bson::document what,
                                                          duration timeout)
{
    const time_point until = node_.now() + timeout;
    auto line = co_await connect_to(std::move(host), until);
    if (!line)
        co_return std::nullopt;
    const auto reply = co_await (*line)->ask(what.view(), until);
    if (!reply)
        co_return std::nullopt;
    co_return bson::document{*reply};
}

void set_member::errands::end() noexcept
{
    over = true;
    for (peer* const line : lines)
        line->cancel();
}

awaitable<result<bson::document>> set_member::ask_primary(const request& what)
{
    using namespace std::chrono_literals;
    const std::shared_ptr<errands> all = errands_;
    std::string host{primary_host()};
    if (host.empty() || all->over)
        co_return refuse(server_code::not_writable_primary, "not primary, and no primary is known");
    const time_point now = node_.now();
    auto line = co_await connect_to(std::move(host), now + 1s);
    if (!line)
        co_return refuse(server_code::host_unreachable, line.error().message());
    if (all->over)
        co_return refuse(server_code::interrupted_at_shutdown, "interrupted at shutdown");
    peer* const to = line->get();
    all->lines.push_back(to);
    // Also where the whole frame goes: a host that crashes takes its coroutines with it.
    const std::shared_ptr<void> listed{nullptr, [all, to](void*) { std::erase(all->lines, to); }};
    const auto limit = std::chrono::milliseconds{what.max_time_ms.value_or(0)};
    const auto reply = co_await to->forward(what.message, what.body, now + limit + 60s);
    if (!reply)
        co_return refuse(server_code::host_unreachable, reply.error().message());
    co_return bson::document{*reply};
}

}  // namespace holdfast::lab::mongo
