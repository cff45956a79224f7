#pragma once
#include "lab/couchbase/data/status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

struct collection_limits {
    /// Of documents that have none of their own: seconds; 0: that of the bucket, -1: none.
    std::optional<std::int64_t> max_ttl = {};
    std::optional<bool> history = {};
};

struct collection_entry {
    std::uint32_t id = 0;
    std::string name = {};
    collection_limits limits = {};
};

struct scope_entry {
    std::uint32_t id = 0;
    std::string name = {};
    std::vector<collection_entry> collections = {};
};

enum class manifest_change : std::uint8_t { done, exists, no_scope, no_collection, invalid_name };

/// The scopes and collections of a bucket. Each change raises the uid; no id is given twice.
class manifest {
public:
    /// The scope and the collection `_default`, both with the id 0.
    manifest();

    std::uint64_t uid() const noexcept { return uid_; }
    const std::vector<scope_entry>& scopes() const noexcept { return scopes_; }

    manifest_change create_scope(std::string_view name);
    manifest_change drop_scope(std::string_view name);
    manifest_change create_collection(std::string_view scope, std::string_view name,
                                      collection_limits limits = {});
    /// Those that are set.
    manifest_change change_collection(std::string_view scope, std::string_view name,
                                      collection_limits limits);
    manifest_change drop_collection(std::string_view scope, std::string_view name);

    bool has_collection(std::uint32_t id) const;
    const collection_entry* find_collection(std::uint32_t id) const;

    struct found_id {
        kv_status code = kv_status::success;  // invalid, unknown_scope, unknown_collection
        std::uint32_t id = 0;
    };
    /// "scope.collection"; an empty part is `_default`.
    found_id collection_id(std::string_view path) const;
    found_id scope_id(std::string_view name) const;

    /// The JSON of GET_COLLECTIONS_MANIFEST.
    std::string text() const;
    /// In hexadecimal, as it stands in manifests and configurations.
    std::string uid_text() const;

private:
    scope_entry* find_scope(std::string_view name);

    std::uint64_t uid_ = 0;
    std::uint32_t next_id_;
    std::vector<scope_entry> scopes_;
};

}  // namespace holdfast::lab::couchbase
