#pragma once
#include "holdfast/bson/mapping.hpp"
#include "holdfast/completion.hpp"
#include "holdfast/mongo/admin_options.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/mongo/cursor.hpp"
#include "holdfast/mongo/results.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo {

struct access;
struct client_impl;
struct collection_settings;

/// A collection of a database: a handle, made without I/O, cheap to copy, for any number of
/// threads.
/// An operation copies all that it was given before it returns; it begins when it is awaited, or
/// at once with a callback. For what comes back, see completion.hpp: nothing said, it is an
/// awaitable that throws.
class collection {
public:
    const std::string& name() const noexcept;
    const std::string& database_name() const noexcept;

    /// The same collection with other defaults.
    collection with(defaults options) const;

    // ---- Writes of one statement. All but the "many" are carried out once, whatever happens ----

    /// Without an _id, the document gets one.
    template <details::storable T, class Token = throw_on_error>
    auto insert_one(const T& document, insert_one_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<insert_one_result, Token>;
        return initiate(executor(), insert_one_as<outcome>(details::stored(document), options),
                        std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto update_one(bson::view filter, update_view change, update_options options = {},
                    Token&& token = {}) const
    {
        using outcome = completion_result_t<update_result, Token>;
        return initiate(executor(), update_one_as<outcome>(filter, change, options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto update_many(bson::view filter, update_view change, update_options options = {},
                     Token&& token = {}) const
    {
        using outcome = completion_result_t<update_result, Token>;
        return initiate(executor(), update_many_as<outcome>(filter, change, options),
                        std::forward<Token>(token));
    }
    template <details::storable T, class Token = throw_on_error>
    auto replace_one(bson::view filter, const T& by, update_options options = {},
                     Token&& token = {}) const
    {
        using outcome = completion_result_t<update_result, Token>;
        return initiate(executor(), replace_one_as<outcome>(filter, details::stored(by), options),
                        std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto delete_one(bson::view filter, delete_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<delete_result, Token>;
        return initiate(executor(), delete_one_as<outcome>(filter, options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto delete_many(bson::view filter, delete_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<delete_result, Token>;
        return initiate(executor(), delete_many_as<outcome>(filter, options),
                        std::forward<Token>(token));
    }

    /// Changes one document and gives it as it was before, or after.
    template <class T = bson::document, class Token = throw_on_error>
    auto find_one_and_update(bson::view filter, update_view change,
                             find_and_modify_options options = {}, Token&& token = {}) const
    {
        return deliver_one<T>(find_one_and_update_as<read<T, Token>>(filter, change, options),
                              std::forward<Token>(token));
    }
    template <class T = bson::document, class Token = throw_on_error>
    auto find_one_and_replace(bson::view filter, bson::view by,
                              find_and_modify_options options = {}, Token&& token = {}) const
    {
        return deliver_one<T>(find_one_and_replace_as<read<T, Token>>(filter, by, options),
                              std::forward<Token>(token));
    }
    template <class T = bson::document, class Token = throw_on_error>
    auto find_one_and_delete(bson::view filter, find_and_modify_options options = {},
                             Token&& token = {}) const
    {
        return deliver_one<T>(find_one_and_delete_as<read<T, Token>>(filter, options),
                              std::forward<Token>(token));
    }

    // ---- Many writes at once, split as the server's limits demand ----

    /// Any range of documents, views or described structs.
    template <class Documents, class Token = throw_on_error>
    auto insert_many(const Documents& documents, insert_many_options options = {},
                     Token&& token = {}) const
    {
        using outcome = completion_result_t<insert_many_result, Token>;
        details::write_list list;
        if constexpr (std::ranges::sized_range<const Documents>)
            list.expect(std::ranges::size(documents));
        for (const auto& one : documents)
            list.insert(0, details::stored(one));
        return initiate(executor(), insert_many_as<outcome>(std::move(list), options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto bulk_write(bulk_writes work, bulk_write_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<bulk_write_result, Token>;
        return initiate(executor(), bulk_write_as<outcome>(std::move(work), options),
                        std::forward<Token>(token));
    }

    // ---- Reads ----

    cursor find(bson::view filter, find_options options = {}) const;
    cursor aggregate(bson::array_view pipeline, aggregate_options options = {}) const;

    template <class T = bson::document, class Token = throw_on_error>
    auto find_one(bson::view filter, find_options options = {}, Token&& token = {}) const
    {
        return deliver_one<T>(find_one_as<read<T, Token>>(filter, options),
                              std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto count_documents(bson::view filter, count_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<std::int64_t, Token>;
        return initiate(executor(), count_documents_as<outcome>(filter, options),
                        std::forward<Token>(token));
    }
    /// From the collection's metadata: fast, and wrong after a crash or on a sharded cluster.
    template <class Token = throw_on_error>
    auto estimated_document_count(count_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<std::int64_t, Token>;
        return initiate(executor(), estimated_document_count_as<outcome>(options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto distinct(std::string_view field, bson::view filter, distinct_options options = {},
                  Token&& token = {}) const
    {
        using outcome = completion_result_t<bson::array, Token>;
        return initiate(executor(), distinct_as<outcome>(field, filter, options),
                        std::forward<Token>(token));
    }

    // ---- The collection as a whole ----

    /// Gives the index's name.
    template <class Token = throw_on_error>
    auto create_index(bson::view keys, bson::view index = {}, index_options options = {},
                      Token&& token = {}) const
    {
        using outcome = completion_result_t<std::string, Token>;
        return initiate(executor(), create_index_as<outcome>(keys, index, options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto create_indexes(std::span<const index_model> indexes, index_options options = {},
                        Token&& token = {}) const
    {
        using outcome = completion_result_t<std::vector<std::string>, Token>;
        return initiate(executor(), create_indexes_as<outcome>(indexes, options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto drop_index(index_hint which, index_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<void, Token>;
        return initiate(executor(), drop_index_as<outcome>(which, options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto drop_indexes(index_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<void, Token>;
        return initiate(executor(), drop_indexes_as<outcome>(options), std::forward<Token>(token));
    }
    cursor list_indexes(list_options options = {}) const;
    template <class Token = throw_on_error>
    auto drop(drop_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<void, Token>;
        return initiate(executor(), drop_as<outcome>(options), std::forward<Token>(token));
    }
    /// Gives it another name in the same database.
    template <class Token = throw_on_error>
    auto rename(std::string_view to, rename_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<void, Token>;
        return initiate(executor(), rename_as<outcome>(to, options), std::forward<Token>(token));
    }

    asio::any_io_executor executor() const noexcept;

private:
    friend struct access;

    collection(std::shared_ptr<client_impl> of,
               std::shared_ptr<const collection_settings> settings) noexcept
        : impl_{std::move(of)}, settings_{std::move(settings)}
    {
    }

    /// A document that is still to be read as T, as the coroutines give it.
    template <class T, class Token>
    using read = std::conditional_t<std::same_as<T, bson::document>,
                                    completion_result_t<std::optional<bson::document>, Token>,
                                    result<std::optional<bson::document>>>;

    template <class T, class Got, class Token>
    auto deliver_one(asio::awaitable<Got> found, Token&& token) const
    {
        if constexpr (std::same_as<T, bson::document>) {
            return initiate(executor(), std::move(found), std::forward<Token>(token));
        } else {
            using outcome = completion_result_t<std::optional<T>, Token>;
            return initiate(executor(), details::mapped<T, outcome>(std::move(found)),
                            std::forward<Token>(token));
        }
    }

    // Bodies, made for `Outcome` = T, which throw, and result<T>, which do not: src/api/mongo/collection_*.
    template <class Outcome>
    asio::awaitable<Outcome> insert_one_as(document_argument, const insert_one_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> update_one_as(bson::view, update_view, const update_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> update_many_as(bson::view, update_view, const update_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> replace_one_as(bson::view, document_argument,
                                            const update_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> delete_one_as(bson::view, const delete_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> delete_many_as(bson::view, const delete_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> find_one_and_update_as(bson::view, update_view,
                                                    const find_and_modify_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> find_one_and_replace_as(bson::view, bson::view,
                                                     const find_and_modify_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> find_one_and_delete_as(bson::view,
                                                    const find_and_modify_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> insert_many_as(details::write_list, const insert_many_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> bulk_write_as(bulk_writes, const bulk_write_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> find_one_as(bson::view, const find_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> count_documents_as(bson::view, const count_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> estimated_document_count_as(const count_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> distinct_as(std::string_view, bson::view,
                                         const distinct_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> create_index_as(bson::view, bson::view, const index_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> create_indexes_as(std::span<const index_model>,
                                               const index_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> drop_index_as(index_hint, const index_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> drop_indexes_as(const index_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> drop_as(const drop_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> rename_as(std::string_view, const rename_options&) const;

    std::shared_ptr<client_impl> impl_;
    std::shared_ptr<const collection_settings> settings_;
};

}  // namespace holdfast::mongo
