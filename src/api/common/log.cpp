#include "holdfast/log.hpp"

#include "holdfast/bson/builder.hpp"
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

void add_fields(bson::builder& to, std::span<const log_field> fields)
{
    for (const log_field& one : fields)
        std::visit([&](auto value) { to.add(one.name, value); }, one.value);
}

result<void> append_json(std::string& line, bson::builder& made)
{
    const auto document = made.finish();
    if (!document)
        return document.error();
    return bson::append_json(line, *document);
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
        std::string line{record.component.name};
        line.append(": ").append(record.message);
        if (!record.fields.empty()) {
            line += ' ';
            bson::byte_buffer bytes;
            bson::builder out{bytes};
            add_fields(out, record.fields);
            if (const auto done = append_json(line, out); !done)
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

std::string_view name_of(severity level) noexcept
{
    constexpr std::string_view names[] = {"emergency", "alert", "critical", "error", "warning",
                                          "notice",    "info",  "debug",    "trace"};
    const auto index = static_cast<std::size_t>(level);
    return index < std::size(names) ? names[index] : "unknown";
}

result<std::string> to_json(const log_record& record)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("level", name_of(record.level)).add("component", record.component.name);
    out.add("message", record.message);
    add_fields(out, record.fields);
    std::string line;
    if (auto done = append_json(line, out); !done)
        return std::move(done).error();
    return line;
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
