#pragma once
#include "drill.hpp"
#include "holdfast/error.hpp"
#include "tools/holdfast/drill/scenarios.hpp"

#include <memory>

namespace holdfast::tool {

/// Embedded servers, if there are any, and clients that write to them or to others. The clients go
/// first.
struct drill_deployment {
    std::unique_ptr<drill::target> servers = {};
    std::unique_ptr<drill::workload> clients = {};
};

drill::deployment_kind kind_of(const drill_options& options) noexcept;

/// Starts the servers, and makes the clients. Nothing is sent yet: errors are those of options,
/// ports and addresses.
result<drill_deployment> open_deployment(const drill_options& options);

/// Whether the address leads nowhere, which is not the deployment's fault.
bool names_no_server(const error& cause);

}  // namespace holdfast::tool
