#pragma once
#include "lab/mongo/set/commit_progress.hpp"
#include "lab/mongo/set/remote_member.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::lab::mongo {

/// Fetches and applies the oplog of a sync source, and reports the own position to it. A member
/// whose newest write the primary does not have runs an initial sync first: the lab has no rollback
/// that undoes single entries.
class replication {
public:
    replication(member_context& in, member_role& role, const remote_members& others,
                commit_progress& commit) noexcept
        : context_{in}, role_{role}, others_{others}, commit_{commit}
    {
    }

    void start();
    /// Ends the reading that waits now; the loop then decides again what to read.
    void cancel_fetch() noexcept;
    /// Ends the reading from any member but the new primary.
    void leave_source_for(std::int32_t new_primary) noexcept;

    /// The sync source, once its oplog was found to continue the own one; -1 and "" before.
    std::int32_t source_id() const noexcept { return source_id_; }
    std::string_view source_host() const noexcept { return source_host_; }

    /// On a primary: replSetUpdatePosition of other members.
    void positions_reported(bson::array_view optimes);

private:
    std::int32_t pick_source() const;
    runtime::awaitable<void> fetch_loop();
    runtime::awaitable<void> follow(std::int32_t id, std::string host);
    runtime::awaitable<result<bool>> open_cursor(peer& from, std::int64_t& cursor);
    runtime::awaitable<void> fetch_batches(peer& from, std::int32_t id, std::int64_t cursor);
    runtime::awaitable<result<void>> apply_batch(bson::document batch);
    void caught_up_with(const remote_member& source);
    runtime::awaitable<void> report_loop();
    bson::document position_report(const optime& at) const;

    member_context& context_;
    member_role& role_;
    const remote_members& others_;
    commit_progress& commit_;
    std::int32_t source_id_ = -1;
    std::string source_host_ = {};
    peer* fetching_from_ = nullptr;
    std::int32_t fetching_from_id_ = -1;
};

}  // namespace holdfast::lab::mongo
