#pragma once
#include "holdfast/bson/mapping.hpp"
#include "holdfast/mongo/admin_options.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/mongo/cursor.hpp"
#include "holdfast/mongo/handle.hpp"
#include "holdfast/mongo/operations.hpp"
#include "holdfast/mongo/results.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::mongo {

/// A collection of a database: a handle, made without I/O, cheap to copy, for any number of
/// threads.
/// An operation copies all that it was given before it returns; it begins when it is awaited, or
/// at once with a callback. For what comes back, see completion.hpp: nothing said, it is an
/// awaitable that throws.
class collection : details::handle {
public:
    const std::string& name() const noexcept;
    const std::string& database_name() const noexcept;
    std::string namespace_name() const;  // "database.collection"

    /// The same collection with other defaults.
    collection with(defaults options) const;

    // ---- Writes of one statement. All but the "many" are carried out once, whatever happens ----

    /// Without an _id, the document gets one; so does a struct whose _id is an object_id of zeros.
    template <class T, class Token = throw_on_error>
        requires details::storable<std::remove_cvref_t<T>>
    auto insert_one(T&& document, insert_one_options options = {}, Token&& token = {}) const
    {
        return run_with<T>(core::mongo::insert_one_operation{details::stored(document), options},
                           std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto update_one(bson::view filter, update_view change, update_options options = {},
                    Token&& token = {}) const
    {
        return run(core::mongo::update_operation{filter, change, options},
                   std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto update_many(bson::view filter, update_view change, update_options options = {},
                     Token&& token = {}) const
    {
        return run(core::mongo::update_operation{filter, change, options, true},
                   std::forward<Token>(token));
    }
    template <class T, class Token = throw_on_error>
        requires details::storable<std::remove_cvref_t<T>>
    auto replace_one(bson::view filter, T&& by, update_options options = {},
                     Token&& token = {}) const
    {
        return run_with<T>(core::mongo::replace_one_operation{filter, details::stored(by), options},
                           std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto delete_one(bson::view filter, delete_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::delete_operation{filter, options}, std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto delete_many(bson::view filter, delete_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::delete_operation{filter, options, true},
                   std::forward<Token>(token));
    }

    /// Changes one document and gives it as it was before, or after.
    template <class T = bson::document, class Token = throw_on_error>
    auto find_one_and_update(bson::view filter, update_view change,
                             find_and_modify_options options = {}, Token&& token = {}) const
    {
        return run_one<T>(core::mongo::find_one_and_update_operation{filter, change, options},
                          std::forward<Token>(token));
    }
    template <class T = bson::document, class Token = throw_on_error>
    auto find_one_and_replace(bson::view filter, bson::view by,
                              find_and_modify_options options = {}, Token&& token = {}) const
    {
        return run_one<T>(core::mongo::find_one_and_replace_operation{filter, by, options},
                          std::forward<Token>(token));
    }
    template <class T = bson::document, class Token = throw_on_error>
    auto find_one_and_delete(bson::view filter, find_and_modify_options options = {},
                             Token&& token = {}) const
    {
        return run_one<T>(core::mongo::find_one_and_delete_operation{filter, options},
                          std::forward<Token>(token));
    }

    // ---- Many writes at once, split as the server's limits demand ----

    /// Any range of documents, views or described structs.
    template <class Documents, class Token = throw_on_error>
    auto insert_many(Documents&& documents, insert_many_options options = {},
                     Token&& token = {}) const
    {
        return run_with<Documents>(
            core::mongo::insert_many_operation{
                details::inserts_of(std::forward<Documents>(documents)), options},
            std::forward<Token>(token));
    }
    /// The documents themselves: `co_await accounts.insert_many(ada, bob)`. A list in braces would
    /// not compile there with g++ 12.
    template <class First, class Second, class... More>
        requires(details::storable<std::remove_cvref_t<First>> &&
                 details::storable<std::remove_cvref_t<Second>> &&
                 (details::storable<std::remove_cvref_t<More>> && ...))
    asio::awaitable<insert_many_result> insert_many(First&& first, Second&& second,
                                                    More&&... more) const
    {
        completion_details::refuse_awaited_temporaries<asio::awaitable<insert_many_result>, First,
                                                       Second, More...>();
        return insert_many(details::inserts_of_each(first, second, more...));
    }
    template <class Token = throw_on_error>
    auto bulk_write(bulk_writes work, bulk_write_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::bulk_write_operation{std::move(work), options},
                   std::forward<Token>(token));
    }

    // ---- Reads ----

    cursor find(bson::view filter, find_options options = {}) const;
    cursor aggregate(bson::array_view pipeline, aggregate_options options = {}) const;

    template <class T = bson::document, class Token = throw_on_error>
    auto find_one(bson::view filter, find_options options = {}, Token&& token = {}) const
    {
        return run_one<T>(core::mongo::find_one_operation{filter, options},
                          std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto count_documents(bson::view filter, count_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::count_documents_operation{filter, options},
                   std::forward<Token>(token));
    }
    /// From the collection's metadata: fast, and wrong after a crash or on a sharded cluster.
    template <class Token = throw_on_error>
    auto estimated_document_count(count_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::estimated_document_count_operation{options},
                   std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto distinct(std::string_view field, bson::view filter, distinct_options options = {},
                  Token&& token = {}) const
    {
        return run(core::mongo::distinct_operation{field, filter, options},
                   std::forward<Token>(token));
    }

    // ---- The collection as a whole ----

    /// Gives the index's name.
    template <class Token = throw_on_error>
    auto create_index(bson::view keys, bson::view index = {}, index_options options = {},
                      Token&& token = {}) const
    {
        return run(core::mongo::create_index_operation{{.keys = keys, .options = index}, options},
                   std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto create_indexes(std::span<const index_model> indexes, index_options options = {},
                        Token&& token = {}) const
    {
        return run(core::mongo::create_indexes_operation{indexes, options},
                   std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto drop_index(index_hint which, index_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::drop_index_operation{which, options}, std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto drop_indexes(index_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::drop_indexes_operation{options}, std::forward<Token>(token));
    }
    cursor list_indexes(list_options options = {}) const;
    template <class Token = throw_on_error>
    auto drop(drop_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::drop_collection_operation{options}, std::forward<Token>(token));
    }
    /// Gives it another name in the same database.
    template <class Token = throw_on_error>
    auto rename(std::string_view to, rename_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::rename_collection_operation{to, options},
                   std::forward<Token>(token));
    }

    using handle::executor;

private:
    friend struct access;

    collection(std::shared_ptr<client_impl> client,
               std::shared_ptr<const collection_settings> settings) noexcept
        : handle{std::move(client), std::move(settings)}
    {
    }

    /// For an operation that finds a document: gives it as a T.
    template <class T, class Operation, class Token>
    auto run_one(Operation operation, Token&& token) const
    {
        if constexpr (std::same_as<T, bson::document>) {
            return run(std::move(operation), std::forward<Token>(token));
        } else {
            using outcome = completion_result_t<std::optional<T>, Token>;
            return initiate(
                executor(),
                details::mapped<T, outcome>(run(std::move(operation), asio::use_awaitable), *this),
                std::forward<Token>(token));
        }
    }
};

}  // namespace holdfast::mongo
