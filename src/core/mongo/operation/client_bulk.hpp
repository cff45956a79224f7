#pragma once
#include "core/mongo/operation/bulk.hpp"
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/query.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/mongo/results.hpp"

#include <memory>

namespace holdfast::core::mongo {

/// The bulkWrite command of servers from 8.0 on, driven like collection_writes. Its results come as
/// a cursor: after done() its further batches are fetched by more() and add_batch(), until more()
/// is null.
class client_writes {
public:
    static result<std::unique_ptr<client_writes>> make(
        const operation_space& admin, holdfast::mongo::client_bulk_writes work,
        const holdfast::mongo::bulk_write_options& options, id_source& ids);
    virtual ~client_writes() = default;

    virtual command* next() = 0;
    virtual void done(result<bson::document> outcome) = 0;
    /// The getMore for the results of the last command, if there are more. It must go to the server
    /// that carried out the command, in the same session.
    virtual command* more() = 0;
    virtual void add_batch(result<bson::document> outcome) = 0;
    /// After a batch could not be read: the cursor to be killed, if the server still has one.
    virtual command* kill() = 0;

    virtual result<holdfast::mongo::client_bulk_write_result> finish() = 0;
};

}  // namespace holdfast::core::mongo
