#include "core/mongo/session/cluster_time.hpp"

namespace holdfast::core::mongo {

bool cluster_time::advance(bson::view time)
{
    const auto when = time["clusterTime"].get<bson::timestamp>();
    if (!when || (latest_ && *when <= when_))
        return false;
    when_ = *when;
    if (!latest_)
        latest_.emplace();
    latest_->assign(time);  // in the same memory: it comes with every reply
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
