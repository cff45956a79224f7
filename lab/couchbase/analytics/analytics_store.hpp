#pragma once
#include "lab/couchbase/query/cluster_store.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::lab::couchbase {

/// A dataset or an index by what it is in, and its own name.
using dataset_name = std::pair<std::string, std::string>;

/// What the analytics services of a cluster keep.
struct analytics_definitions final : service_definitions {
    std::set<std::string, std::less<>> dataverses = {"Default"};  // "travel/inventory", too
    std::map<dataset_name, n1ql::keyspace> datasets = {};
    std::map<dataset_name, std::set<std::string>> indexes = {};  // names, by dataset
};

analytics_definitions& analytics_definitions_of(cluster& of);

/// The numbers of the analytics service.
enum class analytics_code : std::int32_t {
    wrong_login = 20000,
    timeout = 21002,
    invalid_parameter = 21008,
    unavailable = 23000,
    syntax = 24000,
    link_not_found = 24006,
    dataset_missing = 24025,
    dataverse_missing = 24034,
    dataverse_exists = 24039,
    dataset_exists = 24040,
    dataset_not_found = 24045,
    index_not_found = 24047,
    index_exists = 24048,
    internal = 25000,
};
error refuse(analytics_code code, std::string message);

/// Documents as the analytics service names them: by datasets, and by the names of collections and
/// buckets, so that a query needs no preparation.
class analytics_store final : public cluster_store {
public:
    using cluster_store::cluster_store;

    result<n1ql::keyspace> find(const n1ql::keyspace_name& name, n1ql::purpose what) override;
    bool is_catalog(const n1ql::keyspace_name& name) const override;
    result<n1ql::json::array> catalog_rows(const n1ql::keyspace_name& name) override;
    result<void> change_datasets(const n1ql::dataset_statement& what) override;

private:
    analytics_definitions& definitions() const { return analytics_definitions_of(by().on); }
    dataset_name full_name(const std::vector<std::string>& parts) const;
    result<void> change_dataverse(const n1ql::dataset_statement& what);
    result<void> change_dataset(const n1ql::dataset_statement& what);
    result<void> change_index(const n1ql::dataset_statement& what);
};

}  // namespace holdfast::lab::couchbase
