#pragma once
#include "lab/mongo/set/commit_progress.hpp"
#include "lab/mongo/set/remote_member.hpp"
#include "lab/mongo/set/replication.hpp"

#include <string>

namespace holdfast::lab::mongo {

/// One loop of heartbeats to each other member, and the replies to theirs. Terms, the primary, the
/// commit point and newer configurations spread with them.
class heartbeats {
public:
    heartbeats(member_context& in, member_role& role, remote_members& others,
               commit_progress& commit, replication& replicates) noexcept
        : context_{in}, role_{role}, others_{others}, commit_{commit}, replication_{replicates}
    {
    }

    /// Begins a loop to each member of the configuration that has none; the loops to those that
    /// have left it end.
    void connect_members();
    void adopt_config(set_config next);
    /// replSetHeartbeat. 94 NotYetInitialized, 2 BadValue for another set.
    result<void> answer(bson::view request, bson::builder& reply);

private:
    runtime::awaitable<void> loop(remote_member_ptr with);
    runtime::awaitable<void> wait_until_due(remote_member_ptr with);
    time_point due_at(const remote_member& with) const;
    bson::document request() const;
    void failed(remote_member& with, const error& cause);
    void answered(remote_member& with, bson::view reply, duration took);
    void heard_from(remote_member& with, bson::view request);
    /// A message in which a member reports its state in `term`, and its commit point.
    void heard_role(const remote_member& with, member_state state, std::int64_t term,
                    const bson::element& committed);
    runtime::awaitable<void> fetch_config(std::string from);

    member_context& context_;
    member_role& role_;
    remote_members& others_;
    commit_progress& commit_;
    replication& replication_;
};

}  // namespace holdfast::lab::mongo
