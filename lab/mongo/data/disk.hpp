#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/data/session_table.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::lab::mongo {

/// One change to the data, in the words of the oplog.
struct change {
    /// i: insert `o`; u: replace the document o2 by `o`; d: delete `o` ({_id}); c: a command `o` on
    /// "db.$cmd" (create, drop, createIndexes, dropIndexes, renameCollection, collMod,
    /// dropDatabase); n: nothing, a note.
    char op = 'n';
    std::string_view ns;
    bson::view o;
    bson::view o2 = {};  // {_id} of what an update replaces
    const statement_id* by = nullptr;  // of a retryable write
    const executed_statement* outcome = nullptr;  // what to remember of it (with `by`)
};

/// What one member has on its disk: data, oplog, session table, its term and vote. It survives a
/// crash of the member. Every change, on a primary and on a secondary, goes through one function
/// that appends to the oplog and applies, so that members which have the same oplog have the same
/// data and the same session table.
///
/// The oplog is the collection local.oplog.rs, capped, with the fields that MongoDB gives it: ts,
/// t, v, op, ns, ui, o, o2, wall, lsid, txnNumber, stmtId; and, for what a repetition has to
/// answer, `upserted`, `image` and `imageIsNew`. "local" is not replicated.
///
/// Commands (op c, on "db.$cmd"):
///
///     {create: name, ...options, uuid}                {drop: name}
///     {createIndexes: name, ...spec}                  {dropIndexes: name, index: its name or "*"}
///     {collMod: name, options: {all of them}}         {dropDatabase: 1}
///     {collMod: name, index: {name, what changes}}
///     {renameCollection: "db.a", to: "db.b", dropTarget: bool}
class disk {
public:
    /// `oplog_bytes` bounds the oplog's size.
    explicit disk(std::int64_t oplog_bytes = 64 << 20);

    catalog& data() noexcept { return data_; }
    const catalog& data() const noexcept { return data_; }
    session_table& sessions() noexcept { return sessions_; }
    const collection& oplog() const;

    /// On a primary, or a standalone: gives the change the next time, appends and applies it.
    /// `wall` makes the seconds of the time, unless the last write had greater ones. An error is
    /// the change's own (a duplicate key), and nothing has happened then.
    result<optime> write(const change& what, std::int64_t term, bson::datetime wall);

    /// On a secondary: one entry as the primary has written it, later than all before.
    result<void> apply(bson::view entry);

    /// The newest write. What a write would see as now.
    optime last() const noexcept { return last_; }
    /// The entry with this time, if the oplog still has it. For finding where two oplogs part.
    std::optional<bson::document> entry_at(bson::timestamp ts) const;
    std::optional<bson::timestamp> oldest() const;

    /// Term and vote must be stored before a message reports them.
    std::int64_t term() const noexcept { return term_; }
    void set_term(std::int64_t term) noexcept;
    std::optional<std::int64_t> voted_in() const noexcept { return voted_in_; }
    void voted(std::int64_t term) noexcept { voted_in_ = term; }

    /// All is lost: before a member copies everything from another one.
    void clear();
    /// After such a copy: where the oplog goes on from.
    void start_from(const optime& at);

    /// Drops versions of documents that are too old for any snapshot.
    void forget_before(bson::timestamp oldest)
    {
        data_.forget_before(oldest);
        history_from_ = oldest;
    }
    /// Reads of an earlier time would see only a part of what there was.
    bson::timestamp history_from() const noexcept { return history_from_; }

private:
    /// The one way of all changes: carries it out, appends `entry` to the oplog, and remembers the
    /// statement.
    result<void> take(const change& what, const optime& at, bson::view entry);
    result<void> perform(const change& what, bson::timestamp at);
    result<void> perform_command(const change& what, bson::timestamp at);
    bson::view describe(const change& what, const optime& at, bson::datetime wall);
    result<void> create_for(const change& what, std::int64_t term, bson::datetime wall);
    optime next(std::int64_t term, bson::datetime wall) const;
    void open_oplog();

    catalog data_;
    session_table sessions_;
    optime last_ = {};
    bson::timestamp history_from_ = {};
    std::int64_t term_ = 0;
    std::optional<std::int64_t> voted_in_;
    std::int64_t oplog_bytes_;
    bson::byte_buffer scratch_;
};

}  // namespace holdfast::lab::mongo
