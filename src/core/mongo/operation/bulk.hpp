#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/id_source.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/mongo/error.hpp"
#include "holdfast/mongo/results.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// Many writes to one collection, command by command. Drive it like this:
///
///     for (auto next = writes.next(); next; next = writes.next())
///         writes.done(execute(*next));
///     return writes.finish();
namespace holdfast::core::mongo {

class collection_writes {
public:
    /// Ordered writes are grouped as far as neighbours are of one kind; others by kind. Nothing is
    /// copied but what must change: documents without an _id, statements of updates and deletes.
    static result<std::unique_ptr<collection_writes>> make(
        const operation_space& space, holdfast::mongo::details::write_list list,
        const holdfast::mongo::bulk_write_options& options, id_source& ids);
    virtual ~collection_writes() = default;

    /// The next command, with its load, or nothing if all is done or no more may be sent. A pointer
    /// that is good until done().
    virtual command* next() = 0;
    /// How it went: the reply, or an error after which nothing more is sent.
    virtual void done(result<bson::document> outcome) = 0;

    /// The counts of all replies; an error of the kind bulk_write, with what was done and what was
    /// not, if anything went wrong.
    virtual result<holdfast::mongo::bulk_write_result> finish() = 0;
    /// The same for insert_many.
    virtual result<holdfast::mongo::insert_many_result> finish_inserts() = 0;
};

}  // namespace holdfast::core::mongo
