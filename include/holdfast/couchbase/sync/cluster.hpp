#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/cluster.hpp"
#include "holdfast/couchbase/sync/admin.hpp"
#include "holdfast/couchbase/sync/bucket.hpp"
#include "holdfast/couchbase/sync/collection.hpp"
#include "holdfast/couchbase/sync/rows.hpp"
#include "holdfast/couchbase/sync/scope.hpp"
#include "holdfast/error.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::couchbase::sync {

/// A Couchbase cluster whose calls block: the same operations, retries, errors and events as
/// couchbase::cluster, for programs that have threads instead of coroutines. May be used by any
/// number of threads at a time. An operation runs, is sent and waits for its reply on the thread
/// that called it, over a connection that it has for itself meanwhile: up to 16 for each node; more
/// threads at a time wait in line. One thread of its own opens connections and follows the cluster.
///
///     couchbase::sync::cluster db{"couchbase://localhost", options};
///     const auto airlines = db["travel"].default_collection();
///     airlines.upsert("airline_1", klm);
///
/// Every call comes in two forms: one throws `failure`, its twin `try_...` gives a result. Buckets,
/// scopes and collections may outlive the cluster that they come from; their operations fail then.
class cluster : blocking_handle<couchbase::cluster> {
public:
    /// Does no network I/O, but reads the certificates that are named; throws `failure` if
    /// something cannot be understood.
    explicit cluster(std::string_view connection_string, cluster_options options = {});
    static result<cluster> create(std::string_view connection_string, cluster_options options = {});

    cluster(cluster&&) noexcept = default;
    cluster& operator=(cluster&& other) noexcept;
    ~cluster();  // closes it

    sync::bucket operator[](std::string_view bucket) const
    {
        return sync::bucket{bridge_, inner_[bucket]};
    }
    sync::bucket bucket(std::string_view name) const { return (*this)[name]; }

    /// Waits until the cluster can be used: see couchbase::cluster::ready.
    void ready(ready_options options = {}) const { return try_ready(options).value(); }
    result<void> try_ready(ready_options options = {}) const
    {
        return wait(inner_.ready(options, asio::use_awaitable));
    }

    // ---- Services: nothing is sent before the first row is asked for ----

    query_rows query(std::string_view statement, query_options options = {}) const
    {
        return {bridge_, inner_.query(statement, options)};
    }
    query_rows analytics(std::string_view statement, analytics_options options = {}) const
    {
        return {bridge_, inner_.analytics(statement, options)};
    }
    search_rows search(std::string_view index, std::string_view request,
                       search_options options = {}) const
    {
        return {bridge_, inner_.search(index, request, options)};
    }

    /// A request to any service: see couchbase::cluster::http.
    http_reply http(service_type service, http_method method, std::string_view path,
                    http_options options = {}) const
    {
        return try_http(service, method, path, options).value();
    }
    result<http_reply> try_http(service_type service, http_method method, std::string_view path,
                                http_options options = {}) const
    {
        return wait(inner_.http(service, method, path, options, asio::use_awaitable));
    }

    bucket_admin buckets() const { return {bridge_, inner_.buckets()}; }
    user_admin users() const { return {bridge_, inner_.users()}; }
    query_index_admin query_indexes() const { return {bridge_, inner_.query_indexes()}; }

    /// Asks every node that is connected, and every service of every node that is known.
    ping_report ping(ping_options options = {}) const { return try_ping(options).value(); }
    result<ping_report> try_ping(ping_options options = {}) const
    {
        return wait(inner_.ping(options, asio::use_awaitable));
    }

    /// What is known without asking.
    diagnostics_report diagnostics() const { return inner_.diagnostics(); }

    /// See couchbase::cluster.
    void set_authenticator(const authenticator& next) const { inner_.set_authenticator(next); }

    /// Ends the operations of other threads, and waits until nothing runs any more. Later calls
    /// fail.
    void close() const;

private:
    cluster(std::shared_ptr<blocking_bridge> on, couchbase::cluster inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::couchbase::sync
