#pragma once
#include "holdfast/completion.hpp"
#include "holdfast/couchbase/admin.hpp"
#include "holdfast/couchbase/bucket.hpp"
#include "holdfast/couchbase/cluster_options.hpp"
#include "holdfast/couchbase/diagnostics.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/rows.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/error.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::couchbase {

/// A Couchbase cluster: connections to its nodes, opened when they are needed, all on the executor
/// of the application; it starts no thread, unless there are observers. A handle: copies are the
/// same cluster. May be used by several threads.
///
/// What gcc 12.2 makes of coroutines forces a rule on callers: name an aggregate with strings in it
/// before the co_await that uses it.
class cluster {
public:
    /// Does no network I/O, but reads the certificates that are named; throws `failure` if
    /// something cannot be understood. Call ready(), or just begin: the first operation opens what
    /// it needs.
    cluster(asio::any_io_executor on, std::string_view connection_string,
            cluster_options options = {});

    /// The same without exceptions.
    static result<cluster> create(asio::any_io_executor on, std::string_view connection_string,
                                  cluster_options options = {});

    couchbase::bucket operator[](std::string_view bucket) const;
    couchbase::bucket bucket(std::string_view name) const { return (*this)[name]; }

    /// Waits until the cluster can be used: the bucket that the connection string names, or else
    /// the cluster as such. Throws `failure` with what is missing, node by node; at once if it is
    /// something that will not mend itself, such as a wrong password.
    template <class Token = throw_on_error>
    auto ready(ready_options options = {}, Token&& token = {}) const
    {
        if constexpr (completion_details::throws_on_error<Token>)
            return start_ready(options);
        else
            return initiate(executor(), try_ready(options), std::forward<Token>(token));
    }

    // ---- Services: nothing is sent before the first row is asked for ----

    /// A statement of the query service.
    query_rows query(std::string_view statement, query_options options = {}) const;

    query_rows analytics(std::string_view statement, analytics_options options = {}) const;

    /// `request` is the JSON that the search service takes: {"query": ..., "facets": ...,
    /// "knn": ...}. The index is one of the cluster.
    search_rows search(std::string_view index, std::string_view request,
                       search_options options = {}) const;

    /// A request to any service, sent again by the same rules as those of this library itself. The
    /// path begins with "/". The answer is a reply whatever its status is.
    template <class Token = throw_on_error>
    auto http(service_type service, http_method method, std::string_view path,
              http_options options = {}, Token&& token = {}) const
    {
        return details::run_admin(impl_, calls::http{service, method, path, options},
                                  std::forward<Token>(token));
    }

    bucket_admin buckets() const;
    user_admin users() const;
    query_index_admin query_indexes() const;

    /// Asks every node that is connected, and every service of every node that is known.
    template <class Token = throw_on_error>
    auto ping(ping_options options = {}, Token&& token = {}) const
    {
        if constexpr (completion_details::throws_on_error<Token>)
            return start_ping(options);
        else
            return initiate(executor(), try_ping(options), std::forward<Token>(token));
    }

    /// What is known without asking.
    diagnostics_report diagnostics() const;

    /// New connections use it from now on. Those that are open stay, until they are lost or their
    /// server says that their login has expired. Throws `failure` if it cannot be used.
    void set_authenticator(const authenticator& next) const;

    /// Ends all operations, and waits until nothing of the cluster runs any more. Without it,
    /// destroying the last copy stops everything and returns at once.
    asio::awaitable<void> close() const;

    asio::any_io_executor executor() const noexcept;

private:
    friend struct access;

    explicit cluster(std::shared_ptr<cluster_impl> made) noexcept : impl_{std::move(made)} {}

    asio::awaitable<void> start_ready(ready_options options) const;
    asio::awaitable<result<void>> try_ready(ready_options options) const;
    asio::awaitable<ping_report> start_ping(ping_options options) const;
    asio::awaitable<result<ping_report>> try_ping(ping_options options) const;

    std::shared_ptr<cluster_impl> impl_;
};

}  // namespace holdfast::couchbase
