#include "core/mongo/retry/rescue.hpp"

namespace holdfast::core::mongo {

bool would_be_repeated(const retry_policy& policy, const retry_progress& progress, time_point now)
{
    constexpr double shortest_wait = 0;
    const failed_attempt lost{.origin = failure_origin::network};
    return decide(policy, progress, lost, token_bucket{}, now, shortest_wait).retries();
}

}  // namespace holdfast::core::mongo
