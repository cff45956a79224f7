#include "holdfast/log.hpp"

#include "holdfast/bson/json.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>

namespace holdfast {

namespace {

/// spdlog has fewer levels; each of ours goes to the next one that is at least as urgent.
spdlog::level::level_enum spdlog_level(severity level) noexcept
{
    switch (level) {
    case severity::emergency:
    case severity::alert:
    case severity::critical:
        return spdlog::level::critical;
    case severity::error:
        return spdlog::level::err;
    case severity::warning:
        return spdlog::level::warn;
    case severity::notice:
    case severity::informational:
        return spdlog::level::info;
    case severity::debug:
        return spdlog::level::debug;
    case severity::trace:
        return spdlog::level::trace;
    }
    return spdlog::level::critical;
}

class spdlog_sink final : public log_sink {
public:
    spdlog_sink(std::shared_ptr<spdlog::logger> logger, severity up_to)
        : logger_{std::move(logger)}, up_to_{up_to}
    {
    }

    bool wants(log_component, severity level) const noexcept override
    {
        return level <= up_to_ && logger_->should_log(spdlog_level(level));
    }

    void write(const log_record& record) noexcept override
    try {
        std::string line{name_of(record.component)};
        line.append(": ").append(record.message);
        if (!record.fields.empty()) {
            line += ' ';
            if (const auto done = bson::append_json(line, record.fields); !done)
                line.append("(fields: ").append(done.error().message()).append(")");
        }
        logger_->log(spdlog_level(record.level), line);
    } catch (...) {
        // A log line that cannot be made, for want of memory, must not take the operation with it.
    }

private:
    std::shared_ptr<spdlog::logger> logger_;
    severity up_to_;
};

}  // namespace

std::string_view name_of(log_component component) noexcept
{
    switch (component) {
    case log_component::command:
        return "command";
    case log_component::topology:
        return "topology";
    case log_component::server_selection:
        return "serverSelection";
    case log_component::connection:
        return "connection";
    }
    return "unknown";
}

std::string_view name_of(severity level) noexcept
{
    constexpr std::string_view names[] = {"emergency", "alert", "critical", "error", "warning",
                                          "notice",    "info",  "debug",    "trace"};
    const auto index = static_cast<std::size_t>(level);
    return index < std::size(names) ? names[index] : "unknown";
}

std::shared_ptr<log_sink> console_log(severity level)
{
    auto logger = std::make_shared<spdlog::logger>(
        "holdfast", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_level(spdlog_level(level));
    return std::make_shared<spdlog_sink>(std::move(logger), level);
}

std::shared_ptr<log_sink> log_to(std::shared_ptr<spdlog::logger> logger)
{
    return std::make_shared<spdlog_sink>(std::move(logger), severity::trace);
}

}  // namespace holdfast
