#pragma once
#include "holdfast/bson/document.hpp"
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/node/membership.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/peer/peer.hpp"
#include "lab/mongo/set/config.hpp"
#include "lab/mongo/set/commit_point.hpp"
#include "lab/mongo/set/votes.hpp"
#include "runtime/background.hpp"
#include "runtime/tls.hpp"
#include "runtime/wait.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// What a member is, with the numbers that replSetGetStatus shows.
enum class member_state : std::int32_t {
    startup = 0,
    primary = 1,
    secondary = 2,
    recovering = 3,
    startup2 = 5,
    unknown = 6,
    arbiter = 7,
    down = 8,
    rollback = 9,
    removed = 10,
};
std::string_view name_of(member_state state) noexcept;

struct set_options {
    runtime::tls_ptr tls = {};  // for connections to other members
};

/// What a snapshot for a member that copies everything consists of; see snapshot.hpp.
struct snapshot;

/// A node's part in a replica set. It knows the others only by what they answer: heartbeats, votes
/// and the oplog go over connections of its own, each in a coroutine of its own. Everything that
/// must survive a crash is on the disk before anybody is told of it.
///
/// Elections are Raft's, in MongoDB's words: one vote a member and term, for nobody who has less;
/// a primary that hears of a newer term, or of no majority for an election timeout, steps down.
/// Members replicate from the primary. One whose newest write the primary does not have copies
/// everything, beside its own data, and then takes the copy instead of it: until then nothing that
/// it has acknowledged is lost.
class set_member final : public membership {
public:
    set_member(node& of, set_options options);
    ~set_member() override;

    /// Puts the configuration on the disk of a member that has never run. One member of a new set,
    /// and only one, is the initiator: it has the first entry of the oplog.
    static void install(disk& on, const set_config& config, bool initiator, bson::datetime wall);

    /// Begins to talk to the others.
    void start();
    /// Ends all that; ended() says when it has.
    void stop();
    runtime::awaitable<void> ended();

    /// A process that stands still: says and hears nothing until it goes on.
    void pause(bool on);

    member_state state() const noexcept { return state_; }
    const set_config& config() const noexcept { return config_; }
    /// The host of the primary that it knows of, itself perhaps; empty if it knows none.
    std::string_view primary_host() const noexcept;
    optime last() const noexcept { return node_.data->last(); }

    bool in_set() const noexcept override { return true; }
    bool writable() const noexcept override { return state_ == member_state::primary; }
    bool readable() const noexcept override;
    bool arbiter() const noexcept override { return state_ == member_state::arbiter; }
    std::int64_t term() const noexcept override { return node_.data->term(); }
    void describe(bson::builder& hello, bool legacy) const override;
    concern_state check(const optime& wrote, const write_concern& concern) const override;
    result<void> accepts(const write_concern& concern) const override;
    write_concern default_concern() const override;
    optime committed() const noexcept override { return committed_; }
    void wrote(const optime& at) override;
    runtime::awaitable<result<bson::document>> ask_primary(const request& what) override;
    std::span<const command> commands() const noexcept override;

private:
    friend struct set_commands;

    /// Another member, as it was last heard of.
    struct link {
        std::int32_t id = 0;
        std::string host = {};
        member_state state = member_state::unknown;
        bool up = false;
        bool gone = false;  // not in the configuration any more
        optime applied = {};
        std::int64_t config_version = -1;
        std::int64_t config_term = -1;
        time_point heard = time_point::min();  // anything at all
        time_point sent = time_point::min();
        bson::datetime answered_at{};
        bson::datetime asked_at{};
        duration ping{};
        std::string trouble = {};
        std::uint64_t announced = 0;  // which of our announcements it was sent
        optime sent_commit = {};
    };
    using link_ptr = std::shared_ptr<link>;

    /// An election, shared by those who ask for votes.
    struct ballot {
        explicit ballot(runtime::world& in) : changed{in} {}
        runtime::event changed;
        std::size_t yes = 1;  // its own
        std::size_t answers = 0;
    };

    // Who we are: set_member.cpp.
    const member_config* self() const noexcept { return config_.by_id(self_id_); }
    void load_config();
    void adopt_config(set_config next);
    void place_self();
    void make_links();
    link* find_link(std::int32_t id) noexcept;
    void announce();
    void become(member_state next);
    bool may_stand() const noexcept;
    void put_off_election();
    void update_commit();
    void learn_commit(const optime& from_primary);

    // What is said all the time: heartbeat.cpp.
    runtime::awaitable<void> heartbeats(link_ptr with);
    runtime::awaitable<void> wait_for_beat(link_ptr with);
    time_point next_beat(const link& with) const;
    bson::document heartbeat_request() const;
    void heartbeat_failed(link& with, const error& why);
    void heartbeat_answered(link& with, bson::view reply, duration took);
    result<void> heartbeat_asked(bson::view request, bson::builder& reply);
    void learned_primary(std::int32_t id);
    void lost_primary();
    /// True if it was newer than ours; a primary is none any more then.
    bool adopt_term(std::int64_t term);
    runtime::awaitable<void> fetch_config(std::string from);

    // Who leads: election.cpp.
    runtime::awaitable<void> watch();
    enum class reason : std::uint8_t { alone, asked, takeover };
    runtime::awaitable<void> stand(reason why);
    time_point takeover_at() const;
    runtime::awaitable<bool> poll(std::int64_t term, bool dry_run);
    runtime::awaitable<void> ask_vote(std::shared_ptr<ballot> count, std::string host,
                                      bson::document request);
    vote vote_asked(const vote_request& from);
    void become_primary();
    void step_down();
    bool others_have(const optime& target) const;
    runtime::awaitable<void> hand_over();
    time_point deposed_at() const;

    // To another member: call.cpp.
    runtime::awaitable<result<std::unique_ptr<peer>>> connect_to(std::string host,
                                                                 time_point until);
    /// One question, on a connection of its own; nothing if there is no answer.
    runtime::awaitable<std::optional<bson::document>> call(std::string host, bson::document what,
                                                           duration timeout);

    /// Connections on which commands of clients are handed on. Who waits on one is a coroutine of
    /// a port, so that it is shared.
    struct errands {
        std::vector<peer*> lines = {};
        bool over = false;
        void end() noexcept;
    };

    // How the data comes: replicate.cpp, copy.cpp.
    std::int32_t pick_source() const;
    runtime::awaitable<void> tail();
    runtime::awaitable<void> follow(std::int32_t id, std::string host);
    runtime::awaitable<result<bool>> open_tail(peer& from, std::int64_t& cursor);
    runtime::awaitable<void> tail_on(peer& from, std::int32_t id, std::int64_t cursor);
    runtime::awaitable<result<void>> apply_batch(bson::document batch);
    void applied_some();
    void caught_up_with(const link& source);
    runtime::awaitable<void> report();
    bson::document position_report(const optime& at) const;
    runtime::awaitable<result<void>> copy_all(peer& from);
    result<void> take_copy(disk& fresh, bson::view head);

    result<std::shared_ptr<snapshot>> find_snapshot(std::int64_t id);

    node& node_;
    const set_options options_;
    set_config config_;
    bool has_config_ = false;
    std::int32_t self_id_ = -1;
    member_state state_ = member_state::startup;
    bool maintenance_ = false;
    bool stopping_ = false;
    bool paused_ = false;
    bool started_ = false;

    std::map<std::int32_t, link_ptr> links_;
    std::int32_t primary_id_ = -1;
    time_point primary_since_{};
    positions positions_;  // on a primary
    optime committed_ = {};
    optime heard_commit_ = {};
    bool commit_to_announce_ = false;
    std::uint64_t announcements_ = 1;

    time_point started_at_{};
    time_point election_at_ = runtime::never;
    time_point not_before_ = time_point::min();  // by a step-down or replSetFreeze
    bool asked_to_stand_ = false;
    bool stands_ = false;
    std::uint64_t elections_lost_ = 0;
    optime elected_at_ = {};

    std::int32_t source_id_ = -1;  // whose oplog is read, once it was found to go on from ours
    std::string source_host_ = {};
    peer* tail_line_ = nullptr;
    std::int32_t tail_line_to_ = -1;

    std::shared_ptr<snapshot> snapshot_;
    std::int64_t snapshots_ = 0;

    runtime::event wake_;  // for all loops: something about the set has changed
    runtime::event applied_;  // our own position, or whom to tell of it
    runtime::background tasks_;
    const std::shared_ptr<errands> errands_ = std::make_shared<errands>();
};

/// All commands of a set; on a standalone they answer 76.
std::span<const command> all_set_commands() noexcept;

}  // namespace holdfast::lab::mongo
