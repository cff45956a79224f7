#include "api/mongo/make_cursor.hpp"
#include "api/mongo/start_operation.hpp"
#include "core/mongo/operation/query.hpp"
#include "holdfast/mongo/collection.hpp"

/// Reads.
namespace holdfast::mongo {

cursor collection::find(bson::view filter, find_options options) const
{
    return make_cursor({client_, settings_, "find"}, core::mongo::find(*settings_, filter, options),
                       options.session);
}

cursor collection::aggregate(bson::array_view pipeline, aggregate_options options) const
{
    return make_cursor({client_, settings_, "aggregate"},
                       core::mongo::aggregate(*settings_, pipeline, options), options.session);
}

namespace details {

template struct starter<core::mongo::find_one_operation>;
template struct starter<core::mongo::count_documents_operation>;
template struct starter<core::mongo::estimated_document_count_operation>;
template struct starter<core::mongo::distinct_operation>;

}  // namespace details

}  // namespace holdfast::mongo
