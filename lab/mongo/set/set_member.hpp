#pragma once
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/node/membership.hpp"
#include "lab/mongo/set/command_forwarding.hpp"
#include "lab/mongo/set/commit_progress.hpp"
#include "lab/mongo/set/election.hpp"
#include "lab/mongo/set/heartbeats.hpp"
#include "lab/mongo/set/replication.hpp"
#include "lab/mongo/set/snapshot_store.hpp"

#include <utility>

namespace holdfast::lab::mongo {

struct set_options {
    runtime::tls_ptr tls = {};  // for connections to other members
};

/// The parts of a set member, each of which owns one kind of state; each uses some of those above
/// it, and none of those below.
struct member_parts {
    member_parts(mongo::node& of, runtime::tls_ptr tls) : context{of, std::move(tls)} {}

    member_context context;
    member_role role{context};
    remote_members others;
    commit_progress commit{context, role};
    mongo::replication replication{context, role, others, commit};
    mongo::heartbeats heartbeats{context, role, others, commit, replication};
    mongo::election election{context, role, others, commit};
    snapshot_store snapshots;
    command_forwarding forwarding{context};
};

/// A node's part in a replica set. Members share nothing: heartbeats, votes and the oplog go over
/// connections of their own, each in a coroutine of its own. What must survive a crash (term, vote,
/// configuration, oplog) is on the disk before a message reports it.
class set_member final : public membership {
public:
    set_member(node& of, set_options options);
    ~set_member() override;

    /// Stores the configuration on the disk of a member that has never run. Exactly one member of a
    /// new set is the initiator: it has the first entry of the oplog.
    static void install(disk& on, const set_config& config, bool initiator, bson::datetime wall);

    /// Begins to exchange messages with the other members.
    void start();
    /// Ends all loops; ended() completes when the last of them has.
    void stop();
    runtime::awaitable<void> ended();

    /// A frozen process: it neither sends nor handles messages until it is resumed.
    void pause(bool on);

    member_state state() const noexcept { return parts_.role.state(); }
    const set_config& config() const noexcept { return parts_.role.config(); }
    /// The host of the primary that it knows of, perhaps its own; empty if it knows none.
    std::string_view primary_host() const noexcept { return parts_.role.primary_host(); }
    optime last() const noexcept { return parts_.role.last(); }

    bool in_set() const noexcept override { return true; }
    bool writable() const noexcept override { return parts_.role.primary(); }
    bool readable() const noexcept override { return parts_.role.readable(); }
    bool arbiter() const noexcept override { return state() == member_state::arbiter; }
    std::int64_t term() const noexcept override { return parts_.role.term(); }
    void describe(bson::builder& hello, bool legacy) const override;
    concern_state check(const optime& wrote, const write_concern& concern) const override;
    result<void> accepts(const write_concern& concern) const override;
    write_concern default_concern() const override;
    optime committed() const noexcept override { return parts_.commit.committed(); }
    void wrote(const optime& at) override { parts_.commit.wrote(at); }
    runtime::awaitable<result<bson::document>> ask_primary(const request& what) override;
    std::span<const command> commands() const noexcept override;

    /// For the commands of the set.
    member_parts& parts() noexcept { return parts_; }
    const member_parts& parts() const noexcept { return parts_; }

private:
    member_parts parts_;
};

/// All commands of a set; on a standalone they fail with 76 NoReplicationEnabled.
std::span<const command> all_set_commands() noexcept;

}  // namespace holdfast::lab::mongo
