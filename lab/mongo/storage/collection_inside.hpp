#pragma once
#include "lab/mongo/storage/collection.hpp"
#include "lab/mongo/storage/id_table.hpp"
#include "lab/mongo/storage/index.hpp"
#include "lab/mongo/storage/record_store.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::lab {

/// What a collection is made of. The _id index is a table by equality; every other index, and that
/// of _id under a collation, is ordered.
struct collection::inside {
    inside(std::string name, bson::uuid id, collection_options with);

    std::string ns;
    bson::uuid uuid;
    collection_options options;
    record_store records;
    id_table ids;
    index_spec id_spec;
    std::vector<std::unique_ptr<index>> indexes;

    // Kept for their memory.
    mutable bson::byte_buffer key;
    mutable bson::byte_buffer other_key;

    std::uint64_t hash_of(const bson::element& id) const;  // leaves the key in `key`
    /// The newest record with the _id whose key lies in `key`, dead or alive.
    record_id newest_with(std::uint64_t hash) const;
    bool has_key(record_id which) const;

    index* find_index(std::string_view name) const;
    error duplicate(const index_spec& of, bson::view key_values) const;
    /// What the document would have in each index, in their order; an error if it must not.
    result<std::vector<std::vector<bson::document>>> keys_for(bson::view document, record_id self,
                                                              bool check) const;
    void unlist(record_id which, bson::view document);
    void forget_id(record_id which, const record_store::marks& marked);
    void evict();
    void drop(const record& which);  // with its history
};

}  // namespace holdfast::lab
