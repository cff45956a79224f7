#pragma once
#include "lab/couchbase/cluster/node_index.hpp"
#include "lab/couchbase/n1ql/datastore.hpp"
#include "lab/couchbase/query/query_definitions.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase {

/// What a request sees the cluster through.
struct store_access {
    cluster& on;
    std::size_t number;  // of the node that was asked
    runtime::world& world;
    node_index& index;
    std::string user = {};
    std::optional<n1ql::keyspace_name> context = {};
};

/// Documents of the cluster, on the nodes that have their active vbuckets, for one request. Keys
/// come from the node's index, documents from the data nodes: one that does not run, is frozen or
/// warms up is an error, as is a vbucket that is nowhere.
class cluster_store : public n1ql::datastore {
public:
    explicit cluster_store(store_access by) : by_{std::move(by)} {}

    result<n1ql::keyspace> find(const n1ql::keyspace_name& name, n1ql::purpose what) override;
    result<std::vector<std::string>> keys(const n1ql::keyspace& in) override;
    result<std::optional<n1ql::item>> get(const n1ql::keyspace& in,
                                          const std::string& key) override;
    result<n1ql::item_metadata> store(const n1ql::keyspace& in, n1ql::change_kind kind_of_change,
                                      const std::string& key, const n1ql::new_item& what) override;
    result<void> remove(const n1ql::keyspace& in, const std::string& key,
                        std::uint64_t cas) override;
    bool is_catalog(const n1ql::keyspace_name& name) const override;
    result<n1ql::json::array> catalog_rows(const n1ql::keyspace_name& name) override;
    result<void> create_index(const n1ql::create_index_statement& what) override;
    result<void> drop_index(const n1ql::drop_index_statement& what) override;
    result<void> build_indexes(const n1ql::keyspace_name& on,
                               const std::vector<std::string>& names) override;
    result<void> change_datasets(const n1ql::dataset_statement& what) override;

protected:
    const store_access& by() const noexcept { return by_; }
    /// Whether there is such a collection.
    bool exists(const n1ql::keyspace& which) const;
    bool may_open(const std::string& bucket) const;
    result<n1ql::keyspace> checked(n1ql::keyspace found, n1ql::purpose what) const;

private:
    /// An active vbucket on a node that can be reached.
    struct place {
        node* on = nullptr;
        bucket* in = nullptr;
        vbucket* at = nullptr;
        doc_key key = {};
    };

    result<n1ql::keyspace> meant_by(const n1ql::keyspace_name& name) const;
    result<place> locate(const n1ql::keyspace& in, const std::string& key) const;
    result<place> locate_for_change(const n1ql::keyspace& in, const std::string& key,
                                    std::string_view operation) const;
    std::uint32_t collection_id(const n1ql::keyspace& of) const;
    /// All collections that the user may see.
    std::vector<n1ql::keyspace> all_keyspaces() const;
    n1ql::index_catalog& indexes() const;

    store_access by_;
};

}  // namespace holdfast::lab::couchbase
