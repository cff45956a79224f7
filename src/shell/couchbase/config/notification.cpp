#include "shell/couchbase/config/notification.hpp"

#include "core/couchbase/wire/big_endian.hpp"

namespace holdfast::shell::couchbase {

using core::couchbase::as_text;
using core::couchbase::load_big;

std::optional<config_notification> parse_notification(const core::couchbase::frame& from)
{
    const auto expected = core::couchbase::kv_server_opcode::clustermap_change_notification;
    if (from.header.magic != core::couchbase::kv_magic::server_request ||
        from.server_opcode() != expected)
        return std::nullopt;
    config_notification made;
    const auto extras = from.extras();
    if (extras.size() == 4) {
        made.revision.rev = load_big<std::uint32_t>(extras.data());
    } else if (extras.size() == 16) {
        made.revision.epoch = static_cast<std::int64_t>(load_big<std::uint64_t>(extras.data()));
        made.revision.rev = static_cast<std::int64_t>(load_big<std::uint64_t>(extras.data() + 8));
    } else {
        return std::nullopt;
    }
    made.bucket = as_text(from.key());
    made.text = as_text(from.value());
    return made;
}

}  // namespace holdfast::shell::couchbase
