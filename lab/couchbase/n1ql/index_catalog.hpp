#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/n1ql/datastore.hpp"

#include <boost/json/array.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

struct index_record {
    std::string id = {};
    std::string name = {};
    keyspace on = {};
    bool primary = false;
    std::vector<std::string> keys = {};
    std::string condition = {};
    bool built = true;  // else it waits for BUILD INDEX
};

/// The definitions of indexes. There are no others than the keys of documents behind them: every
/// query scans.
class index_catalog {
public:
    result<void> create(const keyspace& on, const create_index_statement& what);
    result<void> drop(const keyspace& on, const drop_index_statement& what);
    result<void> build(const keyspace& on, const std::vector<std::string>& names);

    /// Whether a query on the collection has one to use.
    bool has_built(const keyspace& on) const;
    const std::vector<index_record>& all() const noexcept { return all_; }
    /// Forgets those of collections that are no more.
    void keep(const std::function<bool(const keyspace&)>& exists);

private:
    index_record* find(const keyspace& on, std::string_view name);

    std::vector<index_record> all_;
    std::uint64_t created_ = 0;
};

inline constexpr std::size_t most_indexes = 10'000;

/// A row of system:indexes; `cluster` is an address in it.
json::object index_row(const index_record& of, std::string_view cluster);
/// A row of system:keyspaces.
json::object keyspace_row(const keyspace& of, std::string_view cluster);

}  // namespace holdfast::lab::couchbase::n1ql
