#pragma once
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/storage/collection.hpp"

#include <compare>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::lab {

/// One index over what the documents of a collection are now.
class index {
public:
    /// What compile() of a partial filter says, if it says no.
    static result<std::unique_ptr<index>> make(index_spec spec);
    index(const index&) = delete;
    index& operator=(const index&) = delete;

    index_spec spec;
    bool is_id = false;  // _id_ of a collection with a collation; others have a table for it

    bool unique() const noexcept { return spec.unique || spec.prepare_unique; }

    /// The keys that a document has in here: none if the index leaves it out.
    result<std::vector<bson::document>> keys_of(bson::view document) const;

    /// The first of `keys` that some record has already.
    const bson::document* taken(const std::vector<bson::document>& keys) const;

    void add(std::vector<bson::document> keys, record_id which);
    void remove(const std::vector<bson::document>& keys, record_id which);
    bool has(const bson::document& key, record_id which) const;

    /// Whether it may answer an equality on its first field alone.
    bool answers(std::string_view path) const;
    std::vector<record_id> equal_first(const bson::element& value) const;

    /// Records that share a key, by key.
    std::vector<std::vector<record_id>> duplicates() const;

private:
    explicit index(index_spec from);

    struct entry {
        bson::document key;
        record_id which = 0;
    };
    struct probe {  // a key without a record: before all entries with that key
        const bson::document& key;
    };
    struct first_value {
        const bson::element& value;
    };
    struct less {
        using is_transparent = void;
        const index* of;
        bool operator()(const entry& a, const entry& b) const;
        bool operator()(const entry& a, const probe& b) const;
        bool operator()(const first_value& a, const entry& b) const;
        bool operator()(const entry& a, const first_value& b) const;
    };
    const collation* order() const noexcept { return spec.order ? &*spec.order : nullptr; }
    std::weak_ordering compare_keys(const bson::document& a, const bson::document& b) const;

    std::vector<std::string> paths_;
    bool keyed_ = true;  // false: text, geometry, wildcards; nothing is kept for them
    bool hashed_ = false;
    std::optional<matcher> filter_;
    std::set<entry, less> entries_;
};

}  // namespace holdfast::lab
