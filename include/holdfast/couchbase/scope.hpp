#pragma once
#include "holdfast/couchbase/collection.hpp"
#include "holdfast/couchbase/rows.hpp"
#include "holdfast/couchbase/service_options.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::couchbase {

/// A group of collections. A handle.
class scope {
public:
    const std::string& name() const noexcept { return name_; }

    /// Does no I/O: whether there is such a collection is found out by its first operation.
    couchbase::collection operator[](std::string_view collection) const;
    couchbase::collection collection(std::string_view name) const { return (*this)[name]; }

    /// As those of cluster, but names of collections in a statement are those of this scope.
    query_rows query(std::string_view statement, query_options options = {}) const;
    query_rows analytics(std::string_view statement, analytics_options options = {}) const;
    /// With an index of this scope.
    search_rows search(std::string_view index, std::string_view request,
                       search_options options = {}) const;

private:
    friend struct access;

    scope(std::shared_ptr<cluster_impl> in, std::string bucket, std::string name) noexcept
        : cluster_{std::move(in)}, bucket_{std::move(bucket)}, name_{std::move(name)}
    {
    }

    std::shared_ptr<cluster_impl> cluster_;
    std::string bucket_;
    std::string name_;
};

}  // namespace holdfast::couchbase
