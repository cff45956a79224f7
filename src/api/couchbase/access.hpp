#pragma once
#include "holdfast/couchbase/cluster.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::runtime {
class world;
}

namespace holdfast::couchbase {

/// What the public handles keep private: how they are made, and what they refer to. For the library
/// itself and its tests.
struct access {
    /// A cluster in another world than that of sockets, such as the simulator's.
    static result<cluster> in_world(std::shared_ptr<runtime::world> world,
                                    std::string_view connection_string,
                                    cluster_options options = {});

    static cluster make_cluster(std::shared_ptr<cluster_impl> impl)
    {
        return cluster{std::move(impl)};
    }
    static bucket make_bucket(std::shared_ptr<cluster_impl> in, std::string_view name)
    {
        return bucket{std::move(in), std::string{name}};
    }
    static scope make_scope(std::shared_ptr<cluster_impl> in, const std::string& bucket,
                            std::string_view name)
    {
        return scope{std::move(in), bucket, std::string{name}};
    }
    static collection make_collection(std::shared_ptr<const collection_place> at)
    {
        return collection{std::move(at)};
    }
    template <class Metadata>
    static basic_rows<Metadata> rows_of(std::shared_ptr<row_source> from)
    {
        return basic_rows<Metadata>{std::move(from)};
    }
    template <class Handle>
    static Handle make_admin(std::shared_ptr<cluster_impl> in)
    {
        return Handle{std::move(in)};
    }
    static collection_admin make_collection_admin(std::shared_ptr<cluster_impl> in,
                                                  const std::string& bucket)
    {
        return collection_admin{std::move(in), bucket};
    }
    static const std::shared_ptr<cluster_impl>& impl_of(const cluster& which) noexcept
    {
        return which.impl_;
    }
};

}  // namespace holdfast::couchbase
