#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "api/mongo/make_cursor.hpp"
#include "core/mongo/operation/query.hpp"
#include "holdfast/mongo/collection.hpp"

/// Reads.
namespace holdfast::mongo {

namespace operation = core::mongo;

cursor collection::find(bson::view filter, find_options options) const
{
    return make_cursor(impl_, operation::find(*settings_, filter, options), options.session);
}

cursor collection::aggregate(bson::array_view pipeline, aggregate_options options) const
{
    return make_cursor(impl_, operation::aggregate(*settings_, pipeline, options), options.session);
}

template <class Outcome>
asio::awaitable<Outcome> collection::find_one_as(bson::view filter,
                                                 const find_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::find_one(*settings_, filter, options),
                                        options.session, operation::read_find_one);
}

template <class Outcome>
asio::awaitable<Outcome> collection::count_documents_as(bson::view filter,
                                                        const count_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::count_documents(*settings_, filter, options),
                                        options.session, operation::read_count_documents);
}

template <class Outcome>
asio::awaitable<Outcome> collection::estimated_document_count_as(const count_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::estimated_document_count(*settings_, options),
                                        options.session, operation::read_estimated_count);
}

template <class Outcome>
asio::awaitable<Outcome> collection::distinct_as(std::string_view field, bson::view filter,
                                                 const distinct_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::distinct(*settings_, field, filter, options),
                                        options.session, operation::read_distinct);
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
