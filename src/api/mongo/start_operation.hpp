#pragma once
#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "api/mongo/command_names.hpp"
#include "core/mongo/operation/id_source.hpp"
#include "holdfast/mongo/handle.hpp"
#include "holdfast/mongo/operations.hpp"

#include <memory>
#include <utility>

/// The bodies of details::starter. A source file that says `template struct starter<X>;` makes both
/// forms of an operation X, the one that throws and the one that gives a result.
namespace holdfast::mongo {

/// An id of the client for one document. Costs nothing unless it is asked for.
class id_of_client final : public core::mongo::id_source {
public:
    explicit id_of_client(client_impl& of) noexcept : client_{of} {}
    bson::object_id next() override { return client_.new_id(); }

private:
    client_impl& client_;
};

template <class Operation>
result<core::mongo::command> build(const Operation& operation, client_impl& client,
                                   const collection_settings& in)
{
    if constexpr (requires(id_of_client& ids) { operation.build(in, ids); }) {
        id_of_client ids{client};
        return operation.build(in, ids);
    } else if constexpr (requires { operation.build(in, client.everywhere()); }) {
        return operation.build(in, client.everywhere());
    } else {
        return operation.build(in);
    }
}

/// An operation of one command. Those of several have overloads of their own. `Outcome` is T, and
/// then failure is thrown, or result<T>.
template <class Outcome, class Operation>
asio::awaitable<Outcome> start_as(const std::shared_ptr<client_impl>& client,
                                  const collection_settings& in, Operation&& operation)
{
    auto made = build(operation, *client, in);
    if (!made) [[unlikely]]
        made = unwritten(std::move(made).error(), operation, in);
    return client->run_and_read<Outcome, typename Operation::result_type>(
        std::move(made), operation.options.session, &Operation::read);
}

namespace details {

template <class Operation>
auto starter<Operation>::start(const std::shared_ptr<client_impl>& client,
                               const collection_settings& in, Operation&& operation)
    -> asio::awaitable<value_type>
{
    return start_as<value_type>(client, in, std::move(operation));
}

template <class Operation>
auto starter<Operation>::try_start(const std::shared_ptr<client_impl>& client,
                                   const collection_settings& in, Operation&& operation)
    -> asio::awaitable<result<value_type>>
{
    return start_as<result<value_type>>(client, in, std::move(operation));
}

// Not to be made before their overloads of start_as() are known.
extern template struct starter<core::mongo::insert_many_operation>;
extern template struct starter<core::mongo::bulk_write_operation>;
extern template struct starter<core::mongo::client_bulk_write_operation>;
extern template struct starter<core::mongo::create_collection_operation>;
extern template struct starter<core::mongo::list_collection_names_operation>;

}  // namespace details

}  // namespace holdfast::mongo
