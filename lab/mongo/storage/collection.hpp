#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/uuid.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// The place of a document in its collection; greater means inserted later.
using record_id = std::int64_t;

/// A document as it lies in a collection. The view is valid until the collection is written to.
struct record {
    record_id id = 0;
    bson::view document;
};

/// The moment that a read sees. Documents remember what they were for a while (see
/// collection::forget_before), so that snapshots can be read.
using read_time = std::optional<bson::timestamp>;  // nothing: as it is now

struct collection_options {
    bson::document raw = {};  // as create was given them and listCollections shows them
    bool capped = false;
    std::int64_t max_bytes = 0;  // of a capped collection; 0 is no limit
    std::int64_t max_documents = 0;
    std::optional<collation> order = {};
    bson::document validator = {};  // empty: none
    std::string validation_action = "error";
    std::string validation_level = "strict";
    std::string view_on = {};  // not empty: a view, with `pipeline`
    bson::document pipeline = {};  // an array as a document
    bool clustered = false;
    std::string clustered_index_name = {};
    bool without_ids = false;  // documents need no _id, and have no index on it
};

/// The options of a create command, with whatever else it carries; what is not an option is left
/// out of `raw`. Wrong types are 14, a capped collection without size is 72.
result<collection_options> read_collection_options(bson::view from);

/// One index as createIndexes describes it. Normalised: has v, key and name.
struct index_spec {
    bson::document raw;  // {v: 2, key: {...}, name: "...", unique: true, ...}
    std::string name;
    bson::document key;
    bool unique = false;
    bool sparse = false;
    bool prepare_unique = false;  // new duplicates are refused, old ones stay
    bool hidden = false;
    bson::document partial_filter = {};
    std::optional<collation> order = {};
    std::optional<std::int64_t> expire_after_seconds = {};
};

/// Documents in the order of their insertion, with their indexes. Knows nothing of commands,
/// replication or sessions. Every write says its time, greater or equal to the last one.
class collection {
public:
    collection(std::string ns, bson::uuid uuid, collection_options options);
    collection(const collection&) = delete;
    collection& operator=(const collection&) = delete;
    ~collection();

    const std::string& ns() const noexcept;  // "db.name"
    std::string_view name() const noexcept;  // "name"
    const bson::uuid& uuid() const noexcept;
    const collection_options& options() const noexcept;
    void change_options(collection_options options);
    void rename(std::string ns);

    /// The document must have an _id in the first place. A duplicate is 11000 with MongoDB's words
    /// and, as context, "keyPattern" and "keyValue" in Extended JSON. A capped collection drops its
    /// oldest documents.
    result<record_id> insert(bson::view document, bson::timestamp at);
    /// With the same _id. Same errors.
    result<void> replace(record_id which, bson::view document, bson::timestamp at);
    void remove(record_id which, bson::timestamp at);
    void remove_all(bson::timestamp at);
    /// All of it at once, and all that it was before: no read sees anything any more.
    void truncate();

    /// The first one after `after` (0: the very first), in the order of insertion or against it
    /// (`after` 0: the last). Cheap, and safe while documents come and go.
    std::optional<record> next(record_id after, read_time at = {}) const;
    std::optional<record> previous(record_id before, read_time at = {}) const;
    std::optional<record> find(record_id which, read_time at = {}) const;

    /// By _id, through its index if there is one; then the first, if several have it. Numbers of
    /// different types are equal. Ignores collations.
    std::optional<record> find_by_id(const bson::element& id, read_time at = {}) const;

    /// Whether some index begins with this path and may answer an equality on it (not sparse or
    /// partial ones, nor those of another collation).
    bool has_index_on(std::string_view path) const;
    /// The documents with that value at that path (or with it in an array there), by such an index;
    /// ascending by record. Only as of now.
    std::vector<record_id> find_equal(std::string_view path, const bson::element& value) const;

    std::size_t count() const noexcept;  // as of now
    std::int64_t data_size() const noexcept;  // bytes of all documents

    /// Builds it from what is there: 11000 if it is unique and that is not so. Creating the same
    /// again is no error and gives false; the same name with other options is 86, the same key with
    /// another name 85.
    result<bool> create_index(index_spec spec);
    result<void> drop_index(std::string_view name);  // 27 if there is none, 72 for _id_
    std::vector<index_spec> indexes() const;  // _id_ first
    const index_spec* index_named(std::string_view name) const;
    const index_spec* index_with_key(bson::view key) const;
    /// collMod: hidden, prepareUnique, expireAfterSeconds, unique. Making it unique while there are
    /// duplicates gives the _ids of each group of offenders, and changes nothing.
    std::vector<std::vector<bson::document>> change_index(const index_spec& changed);

    /// The _ids ({_id: ...}) of each group of documents with one key in this index.
    std::vector<std::vector<bson::document>> duplicates_in(std::string_view index) const;

    /// Versions that no read at `oldest` or later can see are dropped.
    void forget_before(bson::timestamp oldest);

private:
    struct inside;
    std::unique_ptr<inside> inside_;
};

/// The spec as createIndexes takes it: checks key and options, fills in v and name. The errors are
/// MongoDB's (67 CannotCreateIndex, 72, 197 InvalidIndexSpecificationOption, 14).
result<index_spec> read_index_spec(bson::view from);

}  // namespace holdfast::lab
