#pragma once
#include "core/couchbase/retry/orchestrator.hpp"
#include "holdfast/couchbase/cluster_options.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"
#include "shell/observe/observation.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::couchbase {

// What the shell reports, for the application's listeners and log. Empty functions if there are
// neither, so that nothing is put together that is not wanted.

std::function<void(const shell::couchbase::cluster_event&)> cluster_notifier(
    const cluster_options& options);
std::function<void(const core::couchbase::retry_event&, const core::couchbase::retry_request&)>
retry_notifier(const cluster_options& options);

/// What is to be observed, but where observers are called.
shell::observation_options observation_of(const cluster_options& options);

void show_warnings(const std::shared_ptr<log_sink>& to, const std::vector<std::string>& warnings);

}  // namespace holdfast::couchbase
