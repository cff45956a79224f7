#include "api/mongo/client_parts.hpp"
#include "api/mongo/collection_settings.hpp"
#include "api/mongo/cursor_parts.hpp"
#include "core/mongo/operation/query.hpp"
#include "holdfast/mongo/collection.hpp"

/// Reads.
namespace holdfast::mongo {

namespace operation = core::mongo;

cursor collection::find(bson::view filter, find_options how) const
{
    return make_cursor(parts_, operation::find(*settings_, filter, how), how.session);
}

cursor collection::aggregate(bson::array_view pipeline, aggregate_options how) const
{
    return make_cursor(parts_, operation::aggregate(*settings_, pipeline, how), how.session);
}

template <class Given>
asio::awaitable<Given> collection::find_one_as(bson::view filter, const find_options& how) const
{
    return parts_->run_and_read<Given>(operation::find_one(*settings_, filter, how), how.session,
                                       operation::read_find_one);
}

template <class Given>
asio::awaitable<Given> collection::count_documents_as(bson::view filter,
                                                      const count_options& how) const
{
    return parts_->run_and_read<Given>(operation::count_documents(*settings_, filter, how),
                                       how.session, operation::read_count_documents);
}

template <class Given>
asio::awaitable<Given> collection::estimated_document_count_as(const count_options& how) const
{
    return parts_->run_and_read<Given>(operation::estimated_document_count(*settings_, how),
                                       how.session, operation::read_estimated_count);
}

template <class Given>
asio::awaitable<Given> collection::distinct_as(std::string_view field, bson::view filter,
                                               const distinct_options& how) const
{
    return parts_->run_and_read<Given>(operation::distinct(*settings_, field, filter, how),
                                       how.session, operation::read_distinct);
}

// What the header's templates call, for those who want exceptions and for those who do not.
template <class T>
using running = asio::awaitable<T>;
using found = std::optional<bson::document>;
using number = std::int64_t;

template running<found> collection::find_one_as(bson::view, const find_options&) const;
template running<result<found>> collection::find_one_as(bson::view, const find_options&) const;
template running<number> collection::count_documents_as(bson::view, const count_options&) const;
template running<result<number>> collection::count_documents_as(bson::view,
                                                                const count_options&) const;
template running<number> collection::estimated_document_count_as(const count_options&) const;
template running<result<number>> collection::estimated_document_count_as(
    const count_options&) const;
template running<bson::array> collection::distinct_as(std::string_view, bson::view,
                                                      const distinct_options&) const;
template running<result<bson::array>> collection::distinct_as(std::string_view, bson::view,
                                                              const distinct_options&) const;

}  // namespace holdfast::mongo
