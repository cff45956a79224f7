#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/collection.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::couchbase::sync {

/// A collection whose operations block: see couchbase::collection, which says what each one does.
/// Every operation comes in two forms: one throws `failure`, its twin `try_...` gives a result. A
/// handle, cheap to copy, for any number of threads.
class collection : blocking_handle<couchbase::collection> {
public:
    const std::string& name() const noexcept { return inner_.name(); }
    const std::string& scope_name() const noexcept { return inner_.scope_name(); }
    const std::string& bucket_name() const noexcept { return inner_.bucket_name(); }

    // ---- Reads of whole documents ----

    template <class T = raw_json>
    document<T> get(std::string_view id, get_options options = {}) const
    {
        return try_get<T>(id, options).value();
    }
    template <class T = raw_json>
    result<document<T>> try_get(std::string_view id, get_options options = {}) const
    {
        return inner_.template get<T>(id, options, blocking());
    }

    template <class T = raw_json>
    std::optional<document<T>> get_if(std::string_view id, get_options options = {}) const
    {
        return try_get_if<T>(id, options).value();
    }
    template <class T = raw_json>
    result<std::optional<document<T>>> try_get_if(std::string_view id,
                                                  get_options options = {}) const
    {
        return inner_.template get_if<T>(id, options, blocking());
    }

    exists_result exists(std::string_view id, key_options options = {}) const
    {
        return try_exists(id, options).value();
    }
    result<exists_result> try_exists(std::string_view id, key_options options = {}) const
    {
        return inner_.exists(id, options, blocking());
    }

    // ---- Writes of whole documents ----

    template <class T>
    mutation_result upsert(std::string_view id, const T& content, upsert_options options = {}) const
    {
        return try_upsert(id, content, options).value();
    }
    template <class T>
    result<mutation_result> try_upsert(std::string_view id, const T& content,
                                       upsert_options options = {}) const
    {
        return inner_.upsert(id, content, options, blocking());
    }

    template <class T>
    mutation_result insert(std::string_view id, const T& content, insert_options options = {}) const
    {
        return try_insert(id, content, options).value();
    }
    template <class T>
    result<mutation_result> try_insert(std::string_view id, const T& content,
                                       insert_options options = {}) const
    {
        return inner_.insert(id, content, options, blocking());
    }

    template <class T>
    mutation_result replace(std::string_view id, const T& content,
                            replace_options options = {}) const
    {
        return try_replace(id, content, options).value();
    }
    template <class T>
    result<mutation_result> try_replace(std::string_view id, const T& content,
                                        replace_options options = {}) const
    {
        return inner_.replace(id, content, options, blocking());
    }

    mutation_result remove(std::string_view id, remove_options options = {}) const
    {
        return try_remove(id, options).value();
    }
    result<mutation_result> try_remove(std::string_view id, remove_options options = {}) const
    {
        return inner_.remove(id, options, blocking());
    }

    mutation_result touch(std::string_view id, couchbase::expiry expiry,
                          key_options options = {}) const
    {
        return try_touch(id, expiry, options).value();
    }
    result<mutation_result> try_touch(std::string_view id, couchbase::expiry expiry,
                                      key_options options = {}) const
    {
        return inner_.touch(id, expiry, options, blocking());
    }

    template <class T = raw_json>
    document<T> get_and_touch(std::string_view id, couchbase::expiry expiry,
                              key_options options = {}) const
    {
        return try_get_and_touch<T>(id, expiry, options).value();
    }
    template <class T = raw_json>
    result<document<T>> try_get_and_touch(std::string_view id, couchbase::expiry expiry,
                                          key_options options = {}) const
    {
        return inner_.template get_and_touch<T>(id, expiry, options, blocking());
    }

    // ---- Locks ----

    template <class T = raw_json>
    document<T> get_and_lock(std::string_view id, milliseconds time, key_options options = {}) const
    {
        return try_get_and_lock<T>(id, time, options).value();
    }
    template <class T = raw_json>
    result<document<T>> try_get_and_lock(std::string_view id, milliseconds time,
                                         key_options options = {}) const
    {
        return inner_.template get_and_lock<T>(id, time, options, blocking());
    }

    void unlock(std::string_view id, couchbase::cas cas, key_options options = {}) const
    {
        return try_unlock(id, cas, options).value();
    }
    result<void> try_unlock(std::string_view id, couchbase::cas cas, key_options options = {}) const
    {
        return inner_.unlock(id, cas, options, blocking());
    }

    // ---- Bytes and counters ----

    mutation_result append(std::string_view id, byte_view bytes, append_options options = {}) const
    {
        return try_append(id, bytes, options).value();
    }
    result<mutation_result> try_append(std::string_view id, byte_view bytes,
                                       append_options options = {}) const
    {
        return inner_.append(id, bytes, options, blocking());
    }

    mutation_result prepend(std::string_view id, byte_view bytes, append_options options = {}) const
    {
        return try_prepend(id, bytes, options).value();
    }
    result<mutation_result> try_prepend(std::string_view id, byte_view bytes,
                                        append_options options = {}) const
    {
        return inner_.prepend(id, bytes, options, blocking());
    }

    counter_result increment(std::string_view id, counter_options options = {}) const
    {
        return try_increment(id, options).value();
    }
    result<counter_result> try_increment(std::string_view id, counter_options options = {}) const
    {
        return inner_.increment(id, options, blocking());
    }

    counter_result decrement(std::string_view id, counter_options options = {}) const
    {
        return try_decrement(id, options).value();
    }
    result<counter_result> try_decrement(std::string_view id, counter_options options = {}) const
    {
        return inner_.decrement(id, options, blocking());
    }

    // ---- Parts of documents ----

    lookup_result lookup_in(std::string_view id, const lookup& paths,
                            lookup_in_options options = {}) const
    {
        return try_lookup_in(id, paths, options).value();
    }
    result<lookup_result> try_lookup_in(std::string_view id, const lookup& paths,
                                        lookup_in_options options = {}) const
    {
        return inner_.lookup_in(id, paths, options, blocking());
    }

    mutate_result mutate_in(std::string_view id, const changes& what,
                            mutate_in_options options = {}) const
    {
        return try_mutate_in(id, what, options).value();
    }
    result<mutate_result> try_mutate_in(std::string_view id, const changes& what,
                                        mutate_in_options options = {}) const
    {
        return inner_.mutate_in(id, what, options, blocking());
    }

    // ---- Reads of any copy ----

    template <class T = raw_json>
    replica_document<T> get_any_replica(std::string_view id, replica_options options = {}) const
    {
        return try_get_any_replica<T>(id, options).value();
    }
    template <class T = raw_json>
    result<replica_document<T>> try_get_any_replica(std::string_view id,
                                                    replica_options options = {}) const
    {
        return inner_.template get_any_replica<T>(id, options, blocking());
    }

    template <class T = raw_json>
    std::vector<replica_document<T>> get_all_replicas(std::string_view id,
                                                      replica_options options = {}) const
    {
        return try_get_all_replicas<T>(id, options).value();
    }
    template <class T = raw_json>
    result<std::vector<replica_document<T>>> try_get_all_replicas(
        std::string_view id, replica_options options = {}) const
    {
        return inner_.template get_all_replicas<T>(id, options, blocking());
    }

    replica_lookup_result lookup_in_any_replica(std::string_view id, const lookup& paths,
                                                replica_options options = {}) const
    {
        return try_lookup_in_any_replica(id, paths, options).value();
    }
    result<replica_lookup_result> try_lookup_in_any_replica(std::string_view id,
                                                            const lookup& paths,
                                                            replica_options options = {}) const
    {
        return inner_.lookup_in_any_replica(id, paths, options, blocking());
    }

    std::vector<replica_lookup_result> lookup_in_all_replicas(std::string_view id,
                                                              const lookup& paths,
                                                              replica_options options = {}) const
    {
        return try_lookup_in_all_replicas(id, paths, options).value();
    }
    result<std::vector<replica_lookup_result>> try_lookup_in_all_replicas(
        std::string_view id, const lookup& paths, replica_options options = {}) const
    {
        return inner_.lookup_in_all_replicas(id, paths, options, blocking());
    }

private:
    friend class scope;

    details::blocks_on blocking() const noexcept { return {bridge_.get()}; }

    collection(std::shared_ptr<blocking_bridge> on, couchbase::collection inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::couchbase::sync
