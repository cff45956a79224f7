#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/scope.hpp"
#include "holdfast/couchbase/sync/collection.hpp"
#include "holdfast/couchbase/sync/rows.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::couchbase::sync {

/// A group of collections whose operations block. A handle.
class scope : blocking_handle<couchbase::scope> {
public:
    const std::string& name() const noexcept { return inner_.name(); }

    sync::collection operator[](std::string_view collection) const
    {
        return sync::collection{bridge_, inner_[collection]};
    }
    sync::collection collection(std::string_view name) const { return (*this)[name]; }

    /// As those of cluster, but names of collections in a statement are those of this scope.
    query_rows query(std::string_view statement, query_options options = {}) const
    {
        return {bridge_, inner_.query(statement, options)};
    }
    query_rows analytics(std::string_view statement, analytics_options options = {}) const
    {
        return {bridge_, inner_.analytics(statement, options)};
    }
    /// With an index of this scope.
    search_rows search(std::string_view index, std::string_view request,
                       search_options options = {}) const
    {
        return {bridge_, inner_.search(index, request, options)};
    }

private:
    friend class bucket;

    scope(std::shared_ptr<blocking_bridge> on, couchbase::scope inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::couchbase::sync
