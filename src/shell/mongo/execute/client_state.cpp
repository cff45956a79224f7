#include "shell/mongo/execute/client_state.hpp"

#include <utility>

namespace holdfast::shell::mongo {

core::mongo::server_session session_store::take(std::optional<std::int32_t> timeout_minutes,
                                                time_point now)
{
    {
        const std::scoped_lock lock{mutex_};
        if (auto pooled = pool_.take(now, timeout_minutes))
            return *std::move(pooled);
    }
    bson::uuid id;
    world_.random(id.bytes);
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);  // version 4
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
    return core::mongo::server_session{id};
}

void session_store::give_back(core::mongo::server_session session,
                              std::optional<std::int32_t> timeout_minutes, time_point now)
{
    const std::scoped_lock lock{mutex_};
    pool_.give_back(std::move(session), now, timeout_minutes);
}

std::vector<std::vector<bson::uuid>> session_store::drain()
{
    const std::scoped_lock lock{mutex_};
    return pool_.drain();
}

void cluster_clock::advance(bson::view time)
{
    const bson::element when = time.find("clusterTime");
    if (when.type() != bson::type::timestamp)
        return;
    const std::uint64_t received = as_number(when.as_timestamp());
    if (received <= newest_.load(std::memory_order_acquire))
        return;
    const std::scoped_lock lock{mutex_};
    if (time_.advance(time))
        newest_.store(received, std::memory_order_release);
}

bool cluster_clock::is_older_than(bson::view time) const
{
    const bson::element when = time.find("clusterTime");
    return when.type() == bson::type::timestamp &&
           as_number(when.as_timestamp()) > newest_.load(std::memory_order_acquire);
}

void cluster_clock::write(bson::builder& command) const
{
    if (newest_.load(std::memory_order_acquire) == 0)
        return;
    const std::scoped_lock lock{mutex_};
    if (time_.latest())
        command.add("$clusterTime", time_.latest()->view());
}

}  // namespace holdfast::shell::mongo
