#pragma once
#include "core/couchbase/config/cluster_config.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::core::couchbase {

using cluster_config_ptr = std::shared_ptr<const cluster_config>;

/// A configuration as it came in: in a reply, a notification or the body of a "not my vbucket".
struct config_offer {
    std::string_view text = {};    // empty: the server has nothing newer
    std::string_view host = {};    // where it came from
    std::string_view bucket = {};  // that of the connection; empty: the global configuration
};

/// The best configuration there is after an offer, never worse than the one before.
struct offer_outcome {
    enum class status : std::uint8_t {
        taken,      // `config` is the offered one
        not_newer,  // older than the current one, or the same
        refused,    // newer, or of unknown age, and not usable; `problem` says why
    };

    status is = status::not_newer;
    cluster_config_ptr config = {};
    std::optional<error> problem = {};
};

/// Holds the configuration in use, and decides about others. One for each bucket, and one for the
/// global configuration.
class config_intake {
public:
    /// What is known already is recognised without being parsed: the configuration in use, older
    /// ones, and the last one that was refused.
    offer_outcome consider(const config_offer& offered);

    /// The next one that can be used is taken, however old it is: it may be of another cluster,
    /// whose revisions say nothing about those of this one.
    void start_over() noexcept;
    bool starts_over() const noexcept { return starts_over_; }

    /// Null before the first one was taken.
    const cluster_config_ptr& current() const noexcept { return current_; }

private:
    struct refused_offer {
        config_revision revision = {};
        std::size_t size = 0;
        std::string host = {};
        error problem;
    };
    offer_outcome refuse(const config_offer& offered, const std::optional<config_revision>& seen,
                         error problem);

    bool is_known(const config_revision& revision) const noexcept
    {
        return current_ && !starts_over_ && revision <= current_->revision;
    }

    cluster_config_ptr current_ = {};
    std::optional<refused_offer> refused_ = {};
    bool starts_over_ = false;
};

/// What changed between two configurations, for the connections to follow. Nodes are the same if
/// their hosts and management ports are, or their key-value ports where there is no management.
struct config_changes {
    struct kept_node {
        std::size_t before = 0;
        std::size_t after = 0;
        bool has_moved = false;  // other ports, addresses or services

        friend bool operator==(const kept_node&, const kept_node&) = default;
    };

    std::vector<std::size_t> added = {};  // indices of the later one, ascending
    std::vector<std::size_t> removed = {};  // indices of the earlier one, ascending
    std::vector<kept_node> kept = {};  // ascending by `after`
    bool bucket_recreated = false;  // ids of collections are no longer valid

    friend bool operator==(const config_changes&, const config_changes&) = default;
};

config_changes changes_between(const cluster_config& before, const cluster_config& after);

}  // namespace holdfast::core::couchbase
