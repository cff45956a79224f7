#include "shell/mongo/execute/client_state.hpp"

#include <utility>

namespace holdfast::shell::mongo {

core::mongo::server_session session_store::take(std::optional<std::int32_t> timeout_minutes)
{
    {
        const std::scoped_lock lock{mutex_};
        if (auto pooled = pool_.take(world_.steady_now(), timeout_minutes))
            return *std::move(pooled);
    }
    bson::uuid id;
    world_.random(id.bytes);
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);  // version 4
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
    return core::mongo::server_session{id};
}

void session_store::give_back(core::mongo::server_session session,
                              std::optional<std::int32_t> timeout_minutes)
{
    const std::scoped_lock lock{mutex_};
    pool_.give_back(std::move(session), world_.steady_now(), timeout_minutes);
}

std::vector<std::vector<bson::uuid>> session_store::drain()
{
    const std::scoped_lock lock{mutex_};
    return pool_.drain();
}

void cluster_clock::advance(bson::view time)
{
    const std::scoped_lock lock{mutex_};
    time_.advance(time);
}

void cluster_clock::write(bson::builder& command) const
{
    const std::scoped_lock lock{mutex_};
    if (time_.latest())
        command.add("$clusterTime", time_.latest()->view());
}

}  // namespace holdfast::shell::mongo
