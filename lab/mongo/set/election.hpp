#pragma once
#include "lab/mongo/set/commit_progress.hpp"
#include "lab/mongo/set/remote_member.hpp"
#include "lab/mongo/set/votes.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::lab::mongo {

/// Elections are Raft's, by MongoDB's commands: one vote a member and term, only for a candidate
/// that has all that the voter has; a primary that gets no message of a majority for an election
/// timeout steps down.
class election {
public:
    election(member_context& in, member_role& role, const remote_members& others,
             commit_progress& commit) noexcept
        : context_{in}, role_{role}, others_{others}, commit_{commit}
    {
    }

    void start();
    /// The last entry of the oplog that this member wrote when it became primary.
    optime elected_at() const noexcept { return elected_at_; }

    /// replSetRequestVotes: a granted vote is on the disk before it is sent.
    vote answer(const vote_request& from);

    /// replSetStepUp. The ticket shows whether the requested election is over.
    std::int64_t request_election();
    bool is_lost(std::int64_t ticket) const noexcept;
    /// replSetStepDown, once others_have(): this member does not stand for `period`, and asks
    /// another one to.
    void resign(duration period);
    /// A majority has the write, and so has an electable secondary.
    bool others_have(const optime& target) const;
    /// replSetFreeze
    void freeze_until(time_point at) noexcept { not_before_ = at; }
    void unfreeze();

private:
    enum class reason : std::uint8_t { timeout, requested, takeover };

    /// The votes of one poll, shared by the coroutines that ask for them.
    struct ballot {
        explicit ballot(runtime::world& in) : changed{in} {}
        runtime::event changed;
        std::size_t yes = 1;  // its own
        std::size_t answers = 0;
    };

    runtime::awaitable<void> loop();
    runtime::awaitable<void> stand(reason cause);
    time_point takeover_at() const;
    time_point deposed_at() const;
    runtime::awaitable<bool> poll(std::int64_t term, bool dry_run);
    bson::document vote_request_message(std::int64_t term, bool dry_run) const;
    runtime::awaitable<void> ask_vote(std::shared_ptr<ballot> votes, std::string host,
                                      bson::document request);
    void win();
    const remote_member* best_successor() const;
    runtime::awaitable<void> hand_over();

    member_context& context_;
    member_role& role_;
    const remote_members& others_;
    commit_progress& commit_;
    time_point not_before_ = time_point::min();  // by a step-down or replSetFreeze
    bool requested_ = false;
    bool standing_ = false;
    std::uint64_t lost_ = 0;
    optime elected_at_ = {};
};

}  // namespace holdfast::lab::mongo
