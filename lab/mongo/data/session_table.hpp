#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/uuid.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/data/optime.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// A logical session as the server knows it: the client's id, and who he is.
struct session_key {
    std::array<std::uint8_t, 16> id{};
    std::array<std::uint8_t, 32> user{};  // a digest of "user@db", zero without one

    friend auto operator<=>(const session_key&, const session_key&) = default;
};

/// One write of a retryable command: which session, which number, which part of it.
struct statement_id {
    session_key session;
    std::int64_t txn_number = 0;
    std::int32_t statement = 0;
};

/// What a statement did, so that a repetition of it gets the same answer.
struct executed_statement {
    std::int32_t statement = 0;
    optime at = {};
    char kind = 'n';  // as in the oplog: i, u, d; n for a statement that changed nothing
    bool upserted = false;
    bson::document upserted_id = {};  // {_id: ...}
    bool has_image = false;  // findAndModify: what it returned, before or after
    bool image_is_new = false;
    bson::document image = {};
};

/// Who has written what under which transaction number. The same on every member, because it is
/// made by applying the oplog: that is why a write repeated on a new primary is recognised.
class session_table {
public:
    /// Before a write. The statement that was executed already, or null: go on. A number smaller
    /// than the session's newest is 225 TransactionTooOld, with MongoDB's words.
    result<const executed_statement*> check(const statement_id& what) const;

    /// After it. A greater number forgets what the smaller one did.
    void record(const session_key& session, std::int64_t txn_number, executed_statement what);

    /// The number is in use from now on, though nothing was written under it: smaller ones are too
    /// old. On this member alone, as long as nothing is written.
    void begin(const session_key& session, std::int64_t txn_number);

    /// The planted defect of the truth test: nothing is remembered, repetitions are carried out.
    void switch_off() noexcept { off_ = true; }

    /// Sessions beyond this are forgotten, those first that have not written for the longest time.
    static constexpr std::size_t limit = 100'000;

    std::size_t size() const noexcept { return sessions_.size(); }

    /// All that is remembered, in order: each(session_key, txn_number, executed_statement). For a
    /// copy to another member.
    template <class Each>
    void for_each(Each&& each) const
    {
        for (const auto& [session, known] : sessions_) {
            for (const auto& [statement, what] : known.statements)
                each(session, known.txn_number, what);
        }
    }

    void forget(const session_key& session);
    void clear();

private:
    struct entry {
        std::int64_t txn_number = -1;
        optime newest = {};
        std::map<std::int32_t, executed_statement> statements;
    };
    void forget_oldest_half();

    std::map<session_key, entry> sessions_;
    optime newest_ = {};  // of all that was recorded
    bool off_ = false;
};

/// {id: UUID, uid: ...} of a command. 14, 40414 or 40415 if it has other fields than that, 207
/// InvalidUUID if the id is none.
result<session_key> read_session_key(bson::view lsid);

}  // namespace holdfast::lab::mongo
