#include "core/pool/pool.hpp"

/// Connections that were idle for so long that their peer may have closed them.
namespace holdfast::core {

std::optional<connection_id> connection_pool::next_to_look_at(time_point now) const noexcept
{
    if (idle_.empty())
        return std::nullopt;
    const auto c = connections_.find(idle_.back());
    if (is_stale(c->second) || is_too_old(c->second, now) ||
        now - c->second.since < settings_.look_after)
        return std::nullopt;
    return c->first;
}

void connection_pool::lost_idle(std::optional<connection_id> which)
{
    while (!which && !idle_.empty())
        lost_idle(idle_.back());
    if (!which)
        return;
    const auto c = connections_.find(*which);
    if (c != connections_.end() && c->second.use == used_for::nothing)
        drop(c, close_reason::error);
}

}  // namespace holdfast::core
