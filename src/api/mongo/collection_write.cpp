#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "core/mongo/operation/single_write.hpp"
#include "holdfast/mongo/collection.hpp"

/// Writes of one statement: a command each.
namespace holdfast::mongo {

namespace operation = core::mongo;

template <class Outcome>
asio::awaitable<Outcome> collection::insert_one_as(document_argument argument,
                                                   const insert_one_options& options) const
{
    if (argument.mapping_error() != nullptr)
        return details::failed<Outcome, insert_one_result>(*argument.mapping_error());
    const bson::view document = argument.view();
    const bson::object_id fresh = details::has_id(document) ? bson::object_id{} : impl_->new_id();
    return impl_->run_and_read<Outcome>(operation::insert_one(*settings_, document, fresh, options),
                                        options.session, operation::read_insert_one);
}

template <class Outcome>
asio::awaitable<Outcome> collection::update_one_as(bson::view filter, update_view change,
                                                   const update_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::update_one(*settings_, filter, change, options),
                                        options.session, operation::read_update);
}

template <class Outcome>
asio::awaitable<Outcome> collection::update_many_as(bson::view filter, update_view change,
                                                    const update_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::update_many(*settings_, filter, change, options),
                                        options.session, operation::read_update);
}

template <class Outcome>
asio::awaitable<Outcome> collection::replace_one_as(bson::view filter, document_argument by,
                                                    const update_options& options) const
{
    if (by.mapping_error() != nullptr)
        return details::failed<Outcome, update_result>(*by.mapping_error());
    return impl_->run_and_read<Outcome>(
        operation::replace_one(*settings_, filter, by.view(), options), options.session,
        operation::read_update);
}

template <class Outcome>
asio::awaitable<Outcome> collection::delete_one_as(bson::view filter,
                                                   const delete_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::delete_one(*settings_, filter, options),
                                        options.session, operation::read_delete);
}

template <class Outcome>
asio::awaitable<Outcome> collection::delete_many_as(bson::view filter,
                                                    const delete_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::delete_many(*settings_, filter, options),
                                        options.session, operation::read_delete);
}

template <class Outcome>
asio::awaitable<Outcome> collection::find_one_and_update_as(
    bson::view filter, update_view change, const find_and_modify_options& options) const
{
    return impl_->run_and_read<Outcome>(
        operation::find_one_and_update(*settings_, filter, change, options), options.session,
        operation::read_found_and_modified);
}

template <class Outcome>
asio::awaitable<Outcome> collection::find_one_and_replace_as(
    bson::view filter, bson::view by, const find_and_modify_options& options) const
{
    return impl_->run_and_read<Outcome>(
        operation::find_one_and_replace(*settings_, filter, by, options), options.session,
        operation::read_found_and_modified);
}

template <class Outcome>
asio::awaitable<Outcome> collection::find_one_and_delete_as(
    bson::view filter, const find_and_modify_options& options) const
{
    return impl_->run_and_read<Outcome>(operation::find_one_and_delete(*settings_, filter, options),
                                        options.session, operation::read_found_and_modified);
}

// What the header's templates call, for those who want exceptions and for those who do not.
template <class T>
using running = asio::awaitable<T>;
using inserted = insert_one_result;
using found = std::optional<bson::document>;

template running<inserted> collection::insert_one_as(document_argument,
                                                     const insert_one_options&) const;
template running<result<inserted>> collection::insert_one_as(document_argument,
                                                             const insert_one_options&) const;
template running<update_result> collection::update_one_as(bson::view, update_view,
                                                          const update_options&) const;
template running<result<update_result>> collection::update_one_as(bson::view, update_view,
                                                                  const update_options&) const;
template running<update_result> collection::update_many_as(bson::view, update_view,
                                                           const update_options&) const;
template running<result<update_result>> collection::update_many_as(bson::view, update_view,
                                                                   const update_options&) const;
template running<update_result> collection::replace_one_as(bson::view, document_argument,
                                                           const update_options&) const;
template running<result<update_result>> collection::replace_one_as(bson::view, document_argument,
                                                                   const update_options&) const;
template running<delete_result> collection::delete_one_as(bson::view, const delete_options&) const;
template running<result<delete_result>> collection::delete_one_as(bson::view,
                                                                  const delete_options&) const;
template running<delete_result> collection::delete_many_as(bson::view, const delete_options&) const;
template running<result<delete_result>> collection::delete_many_as(bson::view,
                                                                   const delete_options&) const;
template running<found> collection::find_one_and_update_as(bson::view, update_view,
                                                           const find_and_modify_options&) const;
template running<result<found>> collection::find_one_and_update_as(
    bson::view, update_view, const find_and_modify_options&) const;
template running<found> collection::find_one_and_replace_as(bson::view, bson::view,
                                                            const find_and_modify_options&) const;
template running<result<found>> collection::find_one_and_replace_as(
    bson::view, bson::view, const find_and_modify_options&) const;
template running<found> collection::find_one_and_delete_as(bson::view,
                                                           const find_and_modify_options&) const;
template running<result<found>> collection::find_one_and_delete_as(
    bson::view, const find_and_modify_options&) const;

}  // namespace holdfast::mongo
