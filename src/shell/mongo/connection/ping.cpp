#include "shell/mongo/connection/ping.hpp"

#include "core/mongo/handshake/server_refusal.hpp"
#include "core/mongo/wire/message_builder.hpp"

#include <utility>

namespace holdfast::shell::mongo {
namespace {

result<std::span<const std::uint8_t>> write_ping(connection& to, request_id id)
{
    core::mongo::message_builder out{to.outgoing(), id};
    out.command().add("ping", 1).add("$db", "admin");
    return out.finish();
}

}  // namespace

runtime::awaitable<result<void>> ping(connection& on)
{
    const request_id id = on.next_request();
    auto request = write_ping(on, id);
    if (!request)
        co_return std::move(request).error();
    auto reply = co_await on.round_trip(*request, id, "ping");
    if (!reply)
        co_return std::move(reply).error();
    if (!core::mongo::says_ok(reply->body))
        co_return core::mongo::server_refusal(core::mongo::errc::command_failed,
                                              "the server refused a ping", reply->body);
    co_return result<void>{};
}

}  // namespace holdfast::shell::mongo
