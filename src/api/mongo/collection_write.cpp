#include "api/mongo/start_operation.hpp"

/// Writes of one statement: a command each.
namespace holdfast::mongo::details {

template struct starter<core::mongo::insert_one_operation>;
template struct starter<core::mongo::update_operation>;
template struct starter<core::mongo::replace_one_operation>;
template struct starter<core::mongo::delete_operation>;
template struct starter<core::mongo::find_one_and_update_operation>;
template struct starter<core::mongo::find_one_and_replace_operation>;
template struct starter<core::mongo::find_one_and_delete_operation>;

}  // namespace holdfast::mongo::details
