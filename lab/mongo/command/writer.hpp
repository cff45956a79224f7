#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/storage/collection.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::lab::mongo {

inline constexpr std::size_t largest_document = 16 * 1024 * 1024;
inline constexpr std::size_t largest_batch = 100'000;

/// What expressions of this command may know; `let` is evaluated.
result<expression_context> context_of(node& on, bson::view let = {});

/// Performs a change, and remembers in the request what has to be waited for.
result<void> commit(node& on, request& what, const change& one);
/// After a write command: one that changed nothing waits for what it has seen, and has used its
/// number all the same.
void settle(node& on, request& what);
/// For changes that are commands: {create: ...} on a database.
result<void> commit_command(node& on, request& what, std::string_view database, bson::view o);

/// The collection, made if it is not there yet.
result<collection*> ensure_collection(node& on, request& what, const namespace_text& ns);

/// 166 for a view, 73 for what only the server writes to.
result<void> check_writable(const node& on, const namespace_text& ns);

/// Writes to one collection on behalf of one command: whatever must be true of a document before it
/// is stored is checked here, and each write is one statement of the session, if there is one.
class writer {
public:
    static result<writer> open(node& on, request& what, const namespace_text& ns,
                               bool bypass_validation);

    /// Null if it does not exist; it is made by the first insert.
    collection* target() const noexcept { return target_; }
    const namespace_text& ns() const noexcept { return ns_; }

    /// The statement as it was executed before, or null: go on. Null too without a number.
    result<const executed_statement*> executed(std::int32_t statement);

    /// Adds an _id if there is none. `outcome` is what to remember, besides number and kind.
    result<void> insert(bson::view document, std::int32_t statement,
                        executed_statement outcome = {});
    result<void> replace(bson::view before, bson::view after, std::int32_t statement,
                         executed_statement outcome = {});
    result<void> remove(bson::view before, std::int32_t statement, executed_statement outcome = {});

    /// The document as insert() would store it; valid until the next call.
    result<bson::view> prepared(bson::view document);
    /// The same for one that an update has made.
    result<bson::view> prepared_upsert(bson::view document);
    /// The rest of insert(), for a document that was prepared.
    result<void> insert_prepared(bson::view document, std::int32_t statement,
                                 executed_statement outcome);

private:
    writer(node& on, request& what, const namespace_text& ns) : on_{&on}, what_{&what}, ns_{ns} {}

    bool numbered() const noexcept { return what_->txn_number && what_->session; }
    result<void> perform(change one, std::int32_t statement, executed_statement& outcome);
    result<bson::view> rebuilt(bson::view document, const bson::element& id);
    result<void> check_rules(bson::view after, const bson::view* before);

    node* on_;
    request* what_;
    namespace_text ns_;
    collection* target_ = nullptr;
    bool checks_rules_ = true;
    bson::byte_buffer scratch_;
    bson::byte_buffer id_scratch_;
};

/// What servers before 5.0 refuse to store by an update (52): names that begin with a dollar, but
/// those of a DBRef. Fields that are as they were in `before` are not looked at.
result<void> check_names(bson::view after, bson::view before);

/// Whether a document obeys the collection's validator. `before` is what it replaces, or null.
result<void> check_validator(const collection& of, bson::view after, const bson::view* before);

}  // namespace holdfast::lab::mongo
