#include "core/mongo/session/cluster_time.hpp"

namespace holdfast::core::mongo {

bool cluster_time::advance(bson::view time)
{
    const auto when = time["clusterTime"].get<bson::timestamp>();
    if (!when || (latest_ && *when <= when_))
        return false;
    when_ = *when;
    latest_.emplace(time);
    return true;
}

bool operation_time::advance(bson::timestamp time) noexcept
{
    if (latest_ && time <= *latest_)
        return false;
    latest_ = time;
    return true;
}

}  // namespace holdfast::core::mongo
