#pragma once
#include "deployment.hpp"
#include "holdfast/mongo/client.hpp"
#include "test_file.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::spec::unified {

/// A deployment and what the runner itself does there: clients of its own, the data that a case
/// begins with, and order afterwards.
class running_lab {
public:
    /// Throws if the deployment does not start.
    explicit running_lab(const lab_kind& which);
    ~running_lab();

    deployment& servers() noexcept { return *servers_; }
    const lab_kind& kind() const noexcept { return servers_->kind(); }

    /// A client of the runner's; its commands are in no case's events.
    const mongo::client& own();

    // All that follow throw case_failure if the deployment does not do as commanded.

    /// Ends all sessions, and makes the collections as the file wants them.
    runtime::awaitable<void> prepare(const unified_file& file);
    /// All documents of a collection, by their _id.
    runtime::awaitable<std::vector<bson::document>> contents(std::string_view database,
                                                             std::string_view collection);
    /// Turns off the fail points that have been set, on all servers.
    runtime::awaitable<void> clean();
    /// Sets it on all servers, on connections on which it will be turned off again.
    runtime::awaitable<void> set_fail_point(bson::document command);
    void remember_fail_point(std::string name) { fail_points_.insert(std::move(name)); }

    /// The newest time of the cluster after prepare(): sessions of a case must know it.
    const std::optional<bson::document>& prepared_at() const noexcept { return prepared_at_; }

    /// Closes the runner's clients while others work: their loop does not run meanwhile.
    void rest();

    bool broken = false;  // is not used again

private:
    runtime::awaitable<void> end_sessions();
    runtime::awaitable<void> fill(const collection_data& what, const mongo::session& in);
    runtime::awaitable<void> drop_collections(const unified_file& file);
    runtime::awaitable<bson::document> command(std::string_view database, bson::document what,
                                               const mongo::session* in, bool may_lack = false);
    const mongo::client& client_of(const std::string& node);
    mongo::client make_client(const std::string& uri);
    runtime::awaitable<void> close_clients();

    std::unique_ptr<deployment> servers_;
    std::optional<mongo::client> own_;
    std::map<std::string, mongo::client> nodes_;
    std::set<std::string> fail_points_;
    std::optional<bson::document> prepared_at_;
};

/// The one of this kind, started if need be. Throws if that fails.
running_lab& lab_for(const lab_kind& which);

/// It is not used any more; what hangs in it is left alone.
void abandon(const lab_kind& which);

}  // namespace holdfast::spec::unified
