#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/n1ql/evaluate.hpp"
#include "lab/couchbase/n1ql/statement.hpp"

#include <boost/json/array.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

/// A collection.
struct keyspace {
    std::string bucket = {};
    std::string scope = "_default";
    std::string collection = "_default";

    friend auto operator<=>(const keyspace&, const keyspace&) = default;
    bool is_default() const noexcept { return scope == "_default" && collection == "_default"; }
    /// "default:travel", "default:travel.inventory.airline".
    std::string path() const;
};

struct item {
    item_metadata metadata = {};
    json::value content = {};
};

/// What is to be stored. `expiry` is seconds since 1970, or up to 30 days from now; 0: never.
struct new_item {
    std::string content = {};
    std::uint32_t expiry = 0;
    bool preserve_expiry = false;
    std::uint64_t cas = 0;  // of a replacement: of what was read
};

enum class change_kind : std::uint8_t { insert, upsert, replace };
enum class purpose : std::uint8_t { read, change };

/// Where statements read and write. Errors are what the reply of a server shows.
class datastore {
public:
    virtual ~datastore() = default;

    /// What a name means, with rights to use it.
    virtual result<keyspace> find(const keyspace_name& name, purpose what) = 0;
    /// The ids of all documents, as the index has them, in order.
    virtual result<std::vector<std::string>> keys(const keyspace& in) = 0;
    /// None: there is no such document.
    virtual result<std::optional<item>> get(const keyspace& in, const std::string& key) = 0;
    /// The document as it is then.
    virtual result<item_metadata> store(const keyspace& in, change_kind kind_of_change,
                                        const std::string& key, const new_item& what) = 0;
    virtual result<void> remove(const keyspace& in, const std::string& key, std::uint64_t cas) = 0;
    /// Whether it is one of those that describe the others: system:indexes and the like.
    virtual bool is_catalog(const keyspace_name& name) const = 0;
    virtual result<json::array> catalog_rows(const keyspace_name& name) = 0;

    virtual result<void> create_index(const create_index_statement& what) = 0;
    virtual result<void> drop_index(const drop_index_statement& what) = 0;
    virtual result<void> build_indexes(const keyspace_name& on,
                                       const std::vector<std::string>& names) = 0;
    virtual result<void> change_datasets(const dataset_statement& what) = 0;
};

}  // namespace holdfast::lab::couchbase::n1ql
