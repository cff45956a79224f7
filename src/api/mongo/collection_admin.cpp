#include "api/mongo/make_cursor.hpp"
#include "api/mongo/start_operation.hpp"
#include "core/mongo/operation/admin.hpp"
#include "holdfast/mongo/collection.hpp"

/// The collection as a whole, and its indexes.
namespace holdfast::mongo {

cursor collection::list_indexes(list_options options) const
{
    return make_cursor({client_, settings_, "listIndexes"},
                       core::mongo::list_indexes(*settings_, options), options.session);
}

namespace details {

template struct starter<core::mongo::create_index_operation>;
template struct starter<core::mongo::create_indexes_operation>;
template struct starter<core::mongo::drop_index_operation>;
template struct starter<core::mongo::drop_indexes_operation>;
template struct starter<core::mongo::drop_collection_operation>;
template struct starter<core::mongo::rename_collection_operation>;

}  // namespace details

}  // namespace holdfast::mongo
