#pragma once
#include "holdfast/couchbase/collection.hpp"

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
