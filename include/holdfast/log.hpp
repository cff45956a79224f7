#pragma once
#include "holdfast/error.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

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

/// "info", "debug"
std::string_view name_of(severity level) noexcept;

/// The part of a client that logs, by the name in its protocol's specification: "serverSelection".
/// Each protocol has its own; MongoDB's are in holdfast/mongo/log.hpp. The name is a literal.
struct log_component {
    std::string_view name;
    friend bool operator==(const log_component&, const log_component&) = default;
    friend auto operator<=>(const log_component&, const log_component&) = default;
};

/// One fact about a message. Documents, such as a command, are text: (Extended) JSON.
struct log_field {
    std::string_view name;
    std::variant<std::int64_t, double, bool, std::string_view> value;
};

/// One message. It lives as long as the call of write(); a sink that keeps it makes a copy.
struct log_record {
    severity level = severity::informational;
    log_component component = {};
    std::string_view message;
    std::span<const log_field> fields = {};  // named as in the specification, without secrets
};

/// The record as a line of JSON: level, component, message, then the fields. An error if a text is
/// not valid UTF-8.
result<std::string> to_json(const log_record& record);

/// Where messages go. Implement it to feed your own logging. Both functions may be called from any
/// thread, and must neither throw nor call back into the client.
class log_sink {
public:
    virtual ~log_sink() = default;

    /// Called before a message is put together, so that an unwanted one costs nothing.
    virtual bool wants(log_component component, severity level) const noexcept = 0;
    virtual void write(const log_record& record) noexcept = 0;
};

/// Messages up to `level` on standard error, one line each.
std::shared_ptr<log_sink> console_log(severity level = severity::informational);

/// Messages into a logger of the application, whose own level and pattern apply.
std::shared_ptr<log_sink> log_to(std::shared_ptr<spdlog::logger> logger);

}  // namespace holdfast
