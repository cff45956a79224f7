#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/bson/mapping.hpp"
#include "holdfast/mongo/collection.hpp"
#include "holdfast/mongo/sync/cursor.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo::sync {

/// A collection whose operations block: see mongo::collection, which says what each one does. Every
/// operation comes in two forms: one throws `failure`, its twin `try_...` gives a result. A handle,
/// cheap to copy, for any number of threads.
class collection : blocking_handle<mongo::collection> {
public:
    const std::string& name() const noexcept { return inner_.name(); }
    const std::string& database_name() const noexcept { return inner_.database_name(); }

    /// The same collection with other defaults.
    collection with(mongo::defaults options) const
    {
        return collection{bridge_, inner_.with(options)};
    }

    // ---- Writes of one statement ----

    template <mongo::details::storable T>
    mongo::insert_one_result insert_one(const T& document,
                                        mongo::insert_one_options options = {}) const
    {
        return try_insert_one(document, options).value();
    }
    template <mongo::details::storable T>
    result<mongo::insert_one_result> try_insert_one(const T& document,
                                                    mongo::insert_one_options options = {}) const
    {
        return wait(inner_.insert_one(document, options, asio::use_awaitable));
    }

    mongo::update_result update_one(bson::view filter, mongo::update_view change,
                                    mongo::update_options options = {}) const
    {
        return try_update_one(filter, change, options).value();
    }
    result<mongo::update_result> try_update_one(bson::view filter, mongo::update_view change,
                                                mongo::update_options options = {}) const
    {
        return wait(inner_.update_one(filter, change, options, asio::use_awaitable));
    }

    mongo::update_result update_many(bson::view filter, mongo::update_view change,
                                     mongo::update_options options = {}) const
    {
        return try_update_many(filter, change, options).value();
    }
    result<mongo::update_result> try_update_many(bson::view filter, mongo::update_view change,
                                                 mongo::update_options options = {}) const
    {
        return wait(inner_.update_many(filter, change, options, asio::use_awaitable));
    }

    template <mongo::details::storable T>
    mongo::update_result replace_one(bson::view filter, const T& by,
                                     mongo::update_options options = {}) const
    {
        return try_replace_one(filter, by, options).value();
    }
    template <mongo::details::storable T>
    result<mongo::update_result> try_replace_one(bson::view filter, const T& by,
                                                 mongo::update_options options = {}) const
    {
        return wait(inner_.replace_one(filter, by, options, asio::use_awaitable));
    }

    mongo::delete_result delete_one(bson::view filter, mongo::delete_options options = {}) const
    {
        return try_delete_one(filter, options).value();
    }
    result<mongo::delete_result> try_delete_one(bson::view filter,
                                                mongo::delete_options options = {}) const
    {
        return wait(inner_.delete_one(filter, options, asio::use_awaitable));
    }

    mongo::delete_result delete_many(bson::view filter, mongo::delete_options options = {}) const
    {
        return try_delete_many(filter, options).value();
    }
    result<mongo::delete_result> try_delete_many(bson::view filter,
                                                 mongo::delete_options options = {}) const
    {
        return wait(inner_.delete_many(filter, options, asio::use_awaitable));
    }

    template <class T = bson::document>
    std::optional<T> find_one_and_update(bson::view filter, mongo::update_view change,
                                         mongo::find_and_modify_options options = {}) const
    {
        return try_find_one_and_update<T>(filter, change, options).value();
    }
    template <class T = bson::document>
    result<std::optional<T>> try_find_one_and_update(
        bson::view filter, mongo::update_view change,
        mongo::find_and_modify_options options = {}) const
    {
        return wait(
            inner_.template find_one_and_update<T>(filter, change, options, asio::use_awaitable));
    }
    template <class T = bson::document>
    std::optional<T> find_one_and_replace(bson::view filter, bson::view by,
                                          mongo::find_and_modify_options options = {}) const
    {
        return try_find_one_and_replace<T>(filter, by, options).value();
    }
    template <class T = bson::document>
    result<std::optional<T>> try_find_one_and_replace(
        bson::view filter, bson::view by, mongo::find_and_modify_options options = {}) const
    {
        return wait(
            inner_.template find_one_and_replace<T>(filter, by, options, asio::use_awaitable));
    }
    template <class T = bson::document>
    std::optional<T> find_one_and_delete(bson::view filter,
                                         mongo::find_and_modify_options options = {}) const
    {
        return try_find_one_and_delete<T>(filter, options).value();
    }
    template <class T = bson::document>
    result<std::optional<T>> try_find_one_and_delete(
        bson::view filter, mongo::find_and_modify_options options = {}) const
    {
        return wait(inner_.template find_one_and_delete<T>(filter, options, asio::use_awaitable));
    }

    // ---- Many writes at once ----

    /// Any range of documents, views or described structs.
    template <class Documents>
    mongo::insert_many_result insert_many(const Documents& documents,
                                          mongo::insert_many_options options = {}) const
    {
        return try_insert_many(documents, options).value();
    }
    template <class Documents>
    result<mongo::insert_many_result> try_insert_many(const Documents& documents,
                                                      mongo::insert_many_options options = {}) const
    {
        return wait(inner_.insert_many(documents, options, asio::use_awaitable));
    }

    /// The documents themselves: `accounts.insert_many(ada, bob)`.
    template <mongo::details::storable First, mongo::details::storable Second,
              mongo::details::storable... More>
    mongo::insert_many_result insert_many(const First& first, const Second& second,
                                          const More&... more) const
    {
        return try_insert_many(first, second, more...).value();
    }
    template <mongo::details::storable First, mongo::details::storable Second,
              mongo::details::storable... More>
    result<mongo::insert_many_result> try_insert_many(const First& first, const Second& second,
                                                      const More&... more) const
    {
        return wait(inner_.insert_many(mongo::details::inserts_of_each(first, second, more...), {},
                                       asio::use_awaitable));
    }

    mongo::bulk_write_result bulk_write(mongo::bulk_writes work,
                                        mongo::bulk_write_options options = {}) const
    {
        return try_bulk_write(std::move(work), options).value();
    }
    result<mongo::bulk_write_result> try_bulk_write(mongo::bulk_writes work,
                                                    mongo::bulk_write_options options = {}) const
    {
        return wait(inner_.bulk_write(std::move(work), options, asio::use_awaitable));
    }

    // ---- Reads ----

    /// Does no I/O yet: errors are reported when the cursor is read.
    cursor find(bson::view filter, mongo::find_options options = {}) const
    {
        return cursor{bridge_, inner_.find(filter, options)};
    }
    cursor aggregate(bson::array_view pipeline, mongo::aggregate_options options = {}) const
    {
        return cursor{bridge_, inner_.aggregate(pipeline, options)};
    }

    template <class T = bson::document>
    std::optional<T> find_one(bson::view filter, mongo::find_options options = {}) const
    {
        return try_find_one<T>(filter, options).value();
    }
    template <class T = bson::document>
    result<std::optional<T>> try_find_one(bson::view filter, mongo::find_options options = {}) const
    {
        return wait(inner_.template find_one<T>(filter, options, asio::use_awaitable));
    }

    std::int64_t count_documents(bson::view filter, mongo::count_options options = {}) const
    {
        return try_count_documents(filter, options).value();
    }
    result<std::int64_t> try_count_documents(bson::view filter,
                                             mongo::count_options options = {}) const
    {
        return wait(inner_.count_documents(filter, options, asio::use_awaitable));
    }
    std::int64_t estimated_document_count(mongo::count_options options = {}) const
    {
        return try_estimated_document_count(options).value();
    }
    result<std::int64_t> try_estimated_document_count(mongo::count_options options = {}) const
    {
        return wait(inner_.estimated_document_count(options, asio::use_awaitable));
    }
    bson::array distinct(std::string_view field, bson::view filter,
                         mongo::distinct_options options = {}) const
    {
        return try_distinct(field, filter, options).value();
    }
    result<bson::array> try_distinct(std::string_view field, bson::view filter,
                                     mongo::distinct_options options = {}) const
    {
        return wait(inner_.distinct(field, filter, options, asio::use_awaitable));
    }

    // ---- The collection as a whole ----

    /// Gives the index's name.
    std::string create_index(bson::view keys, bson::view index = {},
                             mongo::index_options options = {}) const
    {
        return try_create_index(keys, index, options).value();
    }
    result<std::string> try_create_index(bson::view keys, bson::view index = {},
                                         mongo::index_options options = {}) const
    {
        return wait(inner_.create_index(keys, index, options, asio::use_awaitable));
    }
    std::vector<std::string> create_indexes(std::span<const mongo::index_model> indexes,
                                            mongo::index_options options = {}) const
    {
        return try_create_indexes(indexes, options).value();
    }
    result<std::vector<std::string>> try_create_indexes(std::span<const mongo::index_model> indexes,
                                                        mongo::index_options options = {}) const
    {
        return wait(inner_.create_indexes(indexes, options, asio::use_awaitable));
    }
    void drop_index(mongo::index_hint which, mongo::index_options options = {}) const
    {
        return try_drop_index(which, options).value();
    }
    result<void> try_drop_index(mongo::index_hint which, mongo::index_options options = {}) const
    {
        return wait(inner_.drop_index(which, options, asio::use_awaitable));
    }
    void drop_indexes(mongo::index_options options = {}) const
    {
        return try_drop_indexes(options).value();
    }
    result<void> try_drop_indexes(mongo::index_options options = {}) const
    {
        return wait(inner_.drop_indexes(options, asio::use_awaitable));
    }
    cursor list_indexes(mongo::list_options options = {}) const
    {
        return cursor{bridge_, inner_.list_indexes(options)};
    }
    void drop(mongo::drop_options options = {}) const { return try_drop(options).value(); }
    result<void> try_drop(mongo::drop_options options = {}) const
    {
        return wait(inner_.drop(options, asio::use_awaitable));
    }
    /// Gives it another name in the same database.
    void rename(std::string_view to, mongo::rename_options options = {}) const
    {
        return try_rename(to, options).value();
    }
    result<void> try_rename(std::string_view to, mongo::rename_options options = {}) const
    {
        return wait(inner_.rename(to, options, asio::use_awaitable));
    }

private:
    friend class database;

    collection(std::shared_ptr<blocking_bridge> on, mongo::collection inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::mongo::sync
