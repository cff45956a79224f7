#pragma once
#include "core/couchbase/config/network.hpp"
#include "core/couchbase/config/offer.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::shell::couchbase {

/// The configuration of one bucket, or the global one, as it is known to all that use it. The only
/// way in is offer(), wherever a configuration came from: a bootstrap, a notification, a poll, or
/// the reply of a node that a vbucket has left.
class bucket_configs {
public:
    explicit bucket_configs(std::string bucket) : bucket_{std::move(bucket)} {}

    /// `from` is the address of the node that sent it: "host:port".
    core::couchbase::offer_outcome offer(std::string_view text, const endpoint& from);

    /// Null before the first.
    core::couchbase::cluster_config_ptr current() const;
    bool is_newer(const core::couchbase::config_revision& revision) const;
    /// With an epoch; what servers need not send again, for those that can leave it out.
    std::optional<core::couchbase::config_revision> known_revision() const;
    /// See core::couchbase::config_intake.
    void start_over();

private:
    const std::string bucket_;
    mutable std::mutex mutex_;
    core::couchbase::config_intake intake_;
};

}  // namespace holdfast::shell::couchbase
