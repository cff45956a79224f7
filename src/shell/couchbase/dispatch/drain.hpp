#pragma once
#include "shell/couchbase/connection/late_requests.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace holdfast::shell::couchbase {

/// For the requests of a node that has left the cluster, or of vbuckets that have left the node.
/// One that is well answers them at once. One that is not must not keep their callers waiting
/// while another node has the vbuckets: one that sends nothing, and one that does not come to an
/// end.
class drain_time {
public:
    static constexpr duration step = std::chrono::milliseconds{20};

    explicit drain_time(time_point began) : began_{began} {}

    /// `last_activity`: when the node has last sent something.
    bool is_over(time_point now, time_point last_activity) const noexcept
    {
        return now - began_ >= longest || now - std::max(began_, last_activity) >= silence;
    }

private:
    static constexpr duration longest = std::chrono::seconds{1};
    static constexpr duration silence = std::chrono::milliseconds{500};

    time_point began_;
};

/// Gives them up unless they are answered in that time.
runtime::awaitable<void> give_up_late(runtime::world& in, std::vector<late_requests> all);

}  // namespace holdfast::shell::couchbase
