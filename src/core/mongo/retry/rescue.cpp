#include "core/mongo/retry/rescue.hpp"

namespace holdfast::core::mongo {

bool would_be_repeated(const retry_policy& policy, const retry_progress& progress, time_point now)
{
    constexpr double no_chance = 0;  // what is repeated at once draws no wait
    const failed_attempt lost{.origin = failure_origin::network};
    return decide(policy, progress, lost, token_bucket{}, now, no_chance).outcome ==
           retry_outcome::at_once;
}

}  // namespace holdfast::core::mongo
