#pragma once
#include "api/couchbase/cluster_impl.hpp"
#include "holdfast/couchbase/row_source.hpp"
#include "shell/couchbase/execute/service_operation.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::couchbase {

/// A request with rows that is complete, and was not sent yet.
struct row_order {
    std::unique_ptr<shell::couchbase::service_operation> operation = {};
    shell::couchbase::service_target target = {};
    std::chrono::milliseconds timeout{};
    retry_strategy_ptr strategy = {};
    std::shared_ptr<const client_context> context = {};
    std::vector<context_entry> facts = {};  // of every error
};

/// The rows of an order of that service, or the error that comes instead of the first one.
std::shared_ptr<row_source> make_rows(std::shared_ptr<cluster_impl> in, service_type service,
                                      result<row_order> what);

}  // namespace holdfast::couchbase
