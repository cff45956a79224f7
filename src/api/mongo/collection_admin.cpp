#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "api/mongo/make_cursor.hpp"
#include "api/mongo/plain_replies.hpp"
#include "core/mongo/operation/admin.hpp"
#include "holdfast/mongo/collection.hpp"

#include <utility>

namespace holdfast::mongo {
namespace {

using core::mongo::command;

result<std::vector<std::string>> read_names(result<bson::document> outcome, const command& sent)
{
    if (!outcome)
        return std::move(outcome).error();
    return core::mongo::index_names(sent);
}

result<std::string> read_name(result<bson::document> outcome, const command& sent)
{
    if (!outcome)
        return std::move(outcome).error();
    return std::move(core::mongo::index_names(sent).front());
}

}  // namespace

template <class Outcome>
asio::awaitable<Outcome> collection::create_index_as(bson::view keys, bson::view options,
                                                     const index_options& call_options) const
{
    const index_model one{.keys = keys, .options = options};
    return impl_->run_and_read<Outcome, std::string>(
        core::mongo::create_indexes(*settings_, std::span{&one, 1}, call_options),
        call_options.session, read_name);
}
template asio::awaitable<std::string> collection::create_index_as(bson::view, bson::view,
                                                                  const index_options&) const;
template asio::awaitable<result<std::string>> collection::create_index_as(
    bson::view, bson::view, const index_options&) const;

template <class Outcome>
asio::awaitable<Outcome> collection::create_indexes_as(std::span<const index_model> indexes,
                                                       const index_options& options) const
{
    return impl_->run_and_read<Outcome, std::vector<std::string>>(
        core::mongo::create_indexes(*settings_, indexes, options), options.session, read_names);
}
template asio::awaitable<std::vector<std::string>> collection::create_indexes_as(
    std::span<const index_model>, const index_options&) const;
template asio::awaitable<result<std::vector<std::string>>> collection::create_indexes_as(
    std::span<const index_model>, const index_options&) const;

template <class Outcome>
asio::awaitable<Outcome> collection::drop_index_as(index_hint which,
                                                   const index_options& options) const
{
    return impl_->run_and_read<Outcome, void>(core::mongo::drop_index(*settings_, which, options),
                                              options.session, read_done);
}
template asio::awaitable<void> collection::drop_index_as(index_hint, const index_options&) const;
template asio::awaitable<result<void>> collection::drop_index_as(index_hint,
                                                                 const index_options&) const;

template <class Outcome>
asio::awaitable<Outcome> collection::drop_indexes_as(const index_options& options) const
{
    return impl_->run_and_read<Outcome, void>(core::mongo::drop_all_indexes(*settings_, options),
                                              options.session, read_done);
}
template asio::awaitable<void> collection::drop_indexes_as(const index_options&) const;
template asio::awaitable<result<void>> collection::drop_indexes_as(const index_options&) const;

cursor collection::list_indexes(list_options options) const
{
    return make_cursor(impl_, core::mongo::list_indexes(*settings_, options), options.session);
}

template <class Outcome>
asio::awaitable<Outcome> collection::drop_as(const drop_options& options) const
{
    return impl_->run_and_read<Outcome, void>(core::mongo::drop_collection(*settings_, options),
                                              options.session, read_drop);
}
template asio::awaitable<void> collection::drop_as(const drop_options&) const;
template asio::awaitable<result<void>> collection::drop_as(const drop_options&) const;

template <class Outcome>
asio::awaitable<Outcome> collection::rename_as(std::string_view to,
                                               const rename_options& options) const
{
    return impl_->run_and_read<Outcome, void>(
        core::mongo::rename_collection(*settings_, to, options), options.session, read_done);
}
template asio::awaitable<void> collection::rename_as(std::string_view, const rename_options&) const;
template asio::awaitable<result<void>> collection::rename_as(std::string_view,
                                                             const rename_options&) const;

}  // namespace holdfast::mongo
