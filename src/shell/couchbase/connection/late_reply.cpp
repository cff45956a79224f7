#include "shell/couchbase/connection/late_reply.hpp"

#include "core/couchbase/retry/names.hpp"
#include "core/couchbase/wire/frame_info.hpp"

#include <charconv>
#include <utility>

namespace holdfast::shell::couchbase {

std::string opaque_text(std::uint32_t opaque)
{
    char digits[8];
    const auto end = std::to_chars(digits, digits + sizeof digits, opaque, 16).ptr;
    std::string text{"0x"};
    return text.append(digits, end);
}

std::optional<std::chrono::microseconds> server_duration_of(const core::couchbase::frame& reply)
{
    const auto infos = core::couchbase::parse_response_infos(reply.framing());
    return infos ? infos->server_duration : std::nullopt;
}

decltype(kv_connection_options::on_late_reply) late_reply_hook(
    std::shared_ptr<observation> to, std::shared_ptr<const observed::connection> over)
{
    if (!to || !to->wants_orphans())
        return {};
    return [to = std::move(to), over = std::move(over)](const core::couchbase::frame& reply,
                                                        const given_up_request& what) {
        const time_point now = to->world().steady_now();
        observer_records::reply_orphaned late;
        late.operation = what.operation;
        late.service = core::couchbase::observed_name(core::couchbase::service_type::key_value);
        late.name = what.name;
        late.over = over;
        late.request = opaque_text(reply.header.opaque);
        late.cause = what.cause;
        late.total = now - what.began;
        late.since_dispatch = now - what.sent;
        late.server_duration = server_duration_of(reply);
        to->reply_orphaned(std::move(late), what.timeout);
    };
}

}  // namespace holdfast::shell::couchbase
