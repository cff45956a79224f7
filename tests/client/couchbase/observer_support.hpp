#pragma once
#include "holdfast/log.hpp"
#include "holdfast/observer.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// Writes down what it is notified of, "began get", from whatever thread.
class operation_lines final : public observer {
public:
    using observer::on;
    void on(const observed::operation_began& e) noexcept override { add("began", e.of); }
    void on(const observed::attempt_began& e) noexcept override
    {
        add("attempt " + std::to_string(e.which.number) + " to " + e.which.over.server.value(),
            e.of);
        const std::scoped_lock lock{mutex_};
        last_local_ = e.which.over.local;
        last_connection_ = e.which.over.id;
        last_request_ = e.which.request;
    }
    void on(const observed::attempt_ended& e) noexcept override
    {
        add(!e.code                                                   ? "answered"
            : e.phase == dispatch_phase::answered && e.reason.empty() ? "refused"
            : e.reason.empty()                                        ? "lost"
                                                                      : std::string{e.reason},
            e.of);
    }
    void on(const observed::operation_ended& e) noexcept override
    {
        add(e.why == nullptr ? "done" : "failed: " + e.why->code().message(), e.of);
        const std::scoped_lock lock{mutex_};
        parents_.push_back(e.of.parent);
        durations_.push_back(e.ended - e.of.began);
        ++ended_;
    }
    void on(const observed::reply_orphaned& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        lines_.push_back("orphan: " + std::string{e.name} + " " + std::string{name_of(e.cause)});
    }
    void on(const observed::records_dropped& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        dropped_ += e.operations;
    }

    std::vector<std::string> take()
    {
        const std::scoped_lock lock{mutex_};
        return std::exchange(lines_, {});
    }
    std::vector<trace_parent> parents() const { return locked(parents_); }
    std::vector<duration> durations() const { return locked(durations_); }
    std::size_t ended() const { return locked(ended_); }
    std::uint64_t dropped() const { return locked(dropped_); }
    std::string last_local() const { return locked(last_local_); }
    std::string last_connection() const { return locked(last_connection_); }
    std::string last_request() const { return locked(last_request_); }

private:
    template <class T>
    T locked(const T& what) const
    {
        const std::scoped_lock lock{mutex_};
        return what;
    }
    void add(std::string what, const observed::operation& of)
    {
        const std::scoped_lock lock{mutex_};
        lines_.push_back(std::move(what) + " | " + std::string{of.name});
    }

    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
    std::vector<trace_parent> parents_;
    std::vector<duration> durations_;
    std::size_t ended_ = 0;
    std::uint64_t dropped_ = 0;
    std::string last_local_, last_connection_, last_request_;
};

/// Keeps the reports on slow requests and late replies.
class request_reports final : public log_sink {
public:
    struct report {
        std::string component, message, json;
        severity level = severity::debug;
    };

    bool wants(log_component component, severity) const noexcept override
    {
        return component.name == "threshold" || component.name == "orphan";
    }
    void write(const log_record& record) noexcept override
    {
        report made{
            std::string{record.component.name}, std::string{record.message}, {}, record.level};
        for (const log_field& one : record.fields) {
            if (one.name == "requests")
                made.json = std::get<std::string_view>(one.value);
        }
        const std::scoped_lock lock{mutex_};
        all_.push_back(std::move(made));
    }
    std::vector<report> all() const
    {
        const std::scoped_lock lock{mutex_};
        return all_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<report> all_;
};

}  // namespace holdfast::proof
