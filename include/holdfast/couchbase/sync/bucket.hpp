#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/bucket.hpp"
#include "holdfast/couchbase/sync/admin.hpp"
#include "holdfast/couchbase/sync/collection.hpp"
#include "holdfast/couchbase/sync/rows.hpp"
#include "holdfast/couchbase/sync/scope.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::couchbase::sync {

/// A bucket whose operations block: see couchbase::bucket. A handle.
class bucket : blocking_handle<couchbase::bucket> {
public:
    const std::string& name() const noexcept { return inner_.name(); }

    sync::scope operator[](std::string_view scope) const
    {
        return sync::scope{bridge_, inner_[scope]};
    }
    sync::scope scope(std::string_view name) const { return (*this)[name]; }
    sync::scope default_scope() const { return (*this)["_default"]; }
    /// A collection of the default scope.
    sync::collection collection(std::string_view name) const { return default_scope()[name]; }
    sync::collection default_collection() const { return default_scope()["_default"]; }

    /// Opens the bucket, and waits until each of its nodes is connected.
    void ready(ready_options options = {}) const { return try_ready(options).value(); }
    result<void> try_ready(ready_options options = {}) const
    {
        return wait(inner_.ready(options, asio::use_awaitable));
    }

    /// The rows of a view. Nothing is sent before the first one is asked for.
    view_rows view_query(std::string_view design_document, std::string_view view,
                         view_options options = {}) const
    {
        return {bridge_, inner_.view_query(design_document, view, options)};
    }

    collection_admin collections() const { return {bridge_, inner_.collections()}; }

private:
    friend class cluster;

    bucket(std::shared_ptr<blocking_bridge> on, couchbase::bucket inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::couchbase::sync
