#pragma once
#include "core/couchbase/retry/names.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// A connection that follows the cluster's config, by push or poll, over memcached or the cluster
/// manager. It keeps its id when its socket is closed and opened again: a server that rejects a
/// password closes the socket right afterwards, and the fact must outlive that.
using tracker_id = strong_id<struct tracker_id_tag, std::int64_t>;

/// Known facts that keep requests from being sent and need outside help. Facts are set and
/// cleared by what connections see, and read when a request cannot be dispatched.
///
/// What the RFC leaves open: a certificate of ours that the server rejects (mTLS) ends the
/// handshake with a TLS alert, so it is a TLS failure. A JWT that is rejected is answered by
/// auth_error like a password; one that expires on a live connection gives auth_stale, which is
/// routine and no fact. The couchbase2 protocol is not spoken here.
class health {
public:
    void track(tracker_id id);
    /// The node has left the cluster, or is followed no longer: its facts go with it.
    void forget(tracker_id id);

    // Of a connection that does not track the config these three say nothing, and are ignored.
    void sasl_answered(tracker_id id, kv_status status);
    void tls_failed(tracker_id id, std::string_view what_the_library_says);
    void tls_passed(tracker_id id);

    // Of any connection.
    void select_bucket_answered(std::string_view bucket, kv_status status);
    /// A collection map was fetched. Any answer to get-collection-id counts, too: a server that
    /// says that a name is unknown has looked it up.
    void manifest_fetched(std::string_view bucket);
    void bucket_closed(std::string_view bucket);

    struct fact {
        retry_reason reason;
        std::string detail;  // for people
    };
    /// The first of authentication, TLS and, for key-value requests alone, bucket access.
    std::optional<fact> terminal_fact(service_type service, std::string_view bucket) const;

    bool has_manifest(std::string_view bucket) const { return manifests_.contains(bucket); }

private:
    struct tracker {
        bool rejected = false;
        std::optional<std::string> tls_failure = {};
    };
    tracker* find(tracker_id id);

    std::map<tracker_id, tracker> trackers_;
    std::set<std::string, std::less<>> denied_;
    std::set<std::string, std::less<>> manifests_;
};

}  // namespace holdfast::core::couchbase
