#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/command_outcome.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/mongo/results.hpp"

#include <optional>

/// Writes of one statement: from arguments to a command, and from its reply to a result. An error
/// of the first kind means that nothing may be sent. Replies are those of commands that were
/// carried out, so errors of the second kind are the server's "writeErrors".
namespace holdfast::core::mongo {

/// `fresh` becomes the document's _id if it has none, as its first field.
result<command> insert_one(const operation_space& space, bson::view document,
                           const bson::object_id& fresh,
                           const holdfast::mongo::insert_one_options& options);
result<command> update_one(const operation_space& space, bson::view filter,
                           holdfast::mongo::update_view change,
                           const holdfast::mongo::update_options& options);
result<command> update_many(const operation_space& space, bson::view filter,
                            holdfast::mongo::update_view change,
                            const holdfast::mongo::update_options& options);
result<command> replace_one(const operation_space& space, bson::view filter, bson::view by,
                            const holdfast::mongo::update_options& options);
result<command> delete_one(const operation_space& space, bson::view filter,
                           const holdfast::mongo::delete_options& options);
result<command> delete_many(const operation_space& space, bson::view filter,
                            const holdfast::mongo::delete_options& options);

result<command> find_one_and_update(const operation_space& space, bson::view filter,
                                    holdfast::mongo::update_view change,
                                    const holdfast::mongo::find_and_modify_options& options);
result<command> find_one_and_replace(const operation_space& space, bson::view filter, bson::view by,
                                     const holdfast::mongo::find_and_modify_options& options);
result<command> find_one_and_delete(const operation_space& space, bson::view filter,
                                    const holdfast::mongo::find_and_modify_options& options);

/// `sent` is the command's body; `outcome` the reply, or why there was none. What the server says
/// of a write becomes an error of the kind `write`, with a write_failure.
result<holdfast::mongo::insert_one_result> read_insert_one(command_outcome outcome,
                                                           const command& sent);
result<holdfast::mongo::update_result> read_update(command_outcome outcome, const command& sent);
result<holdfast::mongo::delete_result> read_delete(command_outcome outcome, const command& sent);
result<std::optional<bson::document>> read_found_and_modified(command_outcome outcome,
                                                              const command& sent);

/// The rules of update documents: the first key of operators begins with '$', that of a
/// replacement does not; neither is empty, except that a replacement may be.
result<void> check_update(holdfast::mongo::update_view change);
result<void> check_replacement(bson::view by);

}  // namespace holdfast::core::mongo
