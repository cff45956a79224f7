#pragma once
#include "holdfast/bson/document.hpp"
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/set/member_context.hpp"
#include "lab/mongo/set/member_state.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace holdfast::lab::mongo {

/// Another member, as its last message described it.
struct remote_member {
    std::int32_t id = 0;
    std::string host = {};
    member_state state = member_state::unknown;
    bool up = false;
    bool gone = false;  // not in the configuration any more
    optime applied = {};
    std::int64_t config_version = -1;
    std::int64_t config_term = -1;
    time_point heard = time_point::min();  // the last message of any kind
    time_point sent = time_point::min();  // min: the next heartbeat is due at once
    bson::datetime answered_at{};
    bson::datetime asked_at{};
    duration ping{};
    std::string trouble = {};  // lastHeartbeatMessage
    std::uint64_t announced = 0;  // the announcement that its last heartbeat carried
    optime sent_commit = {};  // the commit point that it carried
};
using remote_member_ptr = std::shared_ptr<remote_member>;

/// All other members of the configuration, by _id. A heartbeat loop keeps its entry alive after a
/// reconfig has removed it from here.
class remote_members {
public:
    using table = std::map<std::int32_t, remote_member_ptr>;

    remote_member* find(std::int32_t id) const noexcept
    {
        const auto found = all_.find(id);
        return found == all_.end() ? nullptr : found->second.get();
    }
    table::const_iterator begin() const noexcept { return all_.begin(); }
    table::const_iterator end() const noexcept { return all_.end(); }

    void add(remote_member_ptr one) { all_.emplace(one->id, std::move(one)); }
    /// Removes those that `stays(member)` rejects, and marks them as gone.
    template <class Stays>
    void retain(Stays stays)
    {
        for (auto at = all_.begin(); at != all_.end();) {
            if (stays(*at->second)) {
                ++at;
                continue;
            }
            at->second->gone = true;
            at = all_.erase(at);
        }
    }

private:
    table all_;
};

}  // namespace holdfast::lab::mongo
