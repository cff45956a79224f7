#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/scope.hpp"
#include "holdfast/couchbase/sync/collection.hpp"

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

private:
    friend class bucket;

    scope(std::shared_ptr<blocking_bridge> on, couchbase::scope inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::couchbase::sync
