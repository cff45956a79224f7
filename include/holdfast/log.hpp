#pragma once
#include "holdfast/bson/view.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace spdlog {
class logger;
}

namespace holdfast {

/// How urgent a log message is; names and order are those of the drivers' logging specification,
/// the most urgent first.
enum class severity : std::uint8_t {
    emergency,
    alert,
    critical,
    error,
    warning,
    notice,
    informational,
    debug,
    trace,
};

/// Which part of a client speaks.
enum class log_component : std::uint8_t { command, topology, server_selection, connection };

/// The name in the drivers' specification: "serverSelection".
std::string_view name_of(log_component component) noexcept;
std::string_view name_of(severity level) noexcept;

/// One message. It lives as long as the call of write(); a sink that keeps it makes a copy.
struct log_record {
    severity level = severity::informational;
    log_component component = log_component::command;
    std::string_view message;
    bson::view fields = {};  // named as in the drivers' specification, secrets already removed
};

/// Where messages go. Implement it to feed your own logging. Both functions may be called from any
/// thread, and must neither throw nor call back into the client.
class log_sink {
public:
    virtual ~log_sink() = default;

    /// Asked before a message is put together, so that what nobody reads costs nothing.
    virtual bool wants(log_component component, severity level) const noexcept = 0;
    virtual void write(const log_record& record) noexcept = 0;
};

/// Messages up to `level` on standard error, one line each.
std::shared_ptr<log_sink> console_log(severity level = severity::informational);

/// Messages into a logger of the application, whose own level and pattern apply.
std::shared_ptr<log_sink> log_to(std::shared_ptr<spdlog::logger> logger);

}  // namespace holdfast
