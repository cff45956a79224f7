#pragma once
#include "holdfast/completion.hpp"
#include "holdfast/couchbase/admin.hpp"
#include "holdfast/couchbase/cluster_options.hpp"
#include "holdfast/couchbase/collection.hpp"
#include "holdfast/couchbase/rows.hpp"
#include "holdfast/couchbase/scope.hpp"
#include "holdfast/couchbase/service_options.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::couchbase {

/// A bucket of a cluster. A handle; it is opened by the first operation on a document in it.
class bucket {
public:
    const std::string& name() const noexcept { return name_; }

    couchbase::scope operator[](std::string_view scope) const;
    couchbase::scope scope(std::string_view name) const { return (*this)[name]; }
    couchbase::scope default_scope() const { return (*this)["_default"]; }
    /// A collection of the default scope.
    couchbase::collection collection(std::string_view name) const { return default_scope()[name]; }
    couchbase::collection default_collection() const { return default_scope()["_default"]; }

    /// Opens the bucket, and waits until each of its nodes is connected; throws `failure` with what
    /// is missing, node by node.
    template <class Token = throw_on_error>
    auto ready(ready_options options = {}, Token&& token = {}) const
    {
        if constexpr (completion_details::throws_on_error<Token>)
            return start_ready(options);
        else
            return initiate(executor(), try_ready(options), std::forward<Token>(token));
    }

    /// The rows of a view. Nothing is sent before the first one is asked for.
    view_rows view_query(std::string_view design_document, std::string_view view,
                         view_options options = {}) const;

    collection_admin collections() const;

    asio::any_io_executor executor() const noexcept;

private:
    friend struct access;

    bucket(std::shared_ptr<cluster_impl> in, std::string name) noexcept
        : cluster_{std::move(in)}, name_{std::move(name)}
    {
    }

    asio::awaitable<void> start_ready(ready_options options) const;
    asio::awaitable<result<void>> try_ready(ready_options options) const;

    std::shared_ptr<cluster_impl> cluster_;
    std::string name_;
};

}  // namespace holdfast::couchbase
