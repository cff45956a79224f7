#pragma once
#include "core/observe/request_report.hpp"
#include "holdfast/observer.hpp"
#include "runtime/background.hpp"
#include "shell/observe/observer_feed.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::shell {

struct service_threshold {
    std::string_view service;  // a literal
    duration longest{};        // a request that took longer is reported
};

enum class request_report_kind : std::uint8_t { over_threshold, orphaned };

struct observation_options {
    std::vector<std::shared_ptr<observer>> observers = {};
    run_later deliver = {};  // where they are called
    std::size_t queue = 8192;
    std::vector<service_threshold> thresholds = {};  // without one, nothing of a service is slow
    bool reports_orphans = false;
    std::size_t sample = 10;
    duration interval = std::chrono::seconds{10};
    /// Takes a report, as JSON. Empty: there are none.
    std::function<void(request_report_kind, const std::string& json)> report = {};
};

/// What a client does to be observed: events for its observers, and reports on slow requests and
/// late replies. A client for which none of it is wanted has no observation at all; others have
/// one, and their operations an operation_watch each.
class observation : public std::enable_shared_from_this<observation> {
public:
    /// Null if nothing is wanted.
    static std::shared_ptr<observation> make(runtime::world& in, observation_options what);
    observation(runtime::world& in, observation_options what);
    observation(const observation&) = delete;
    observation& operator=(const observation&) = delete;

    runtime::world& world() const noexcept { return world_; }
    /// Null without observers.
    observer_feed* feed() const noexcept { return feed_.get(); }

    /// A request has ended. `describe()` gives a core::reported_request, and is called only if the
    /// request was slow, and is one of the slowest.
    template <class Describe>
    void request_ended(std::string_view service, duration total, Describe&& describe)
    {
        if (!is_slow(service, total)) [[likely]]
            return;
        add(request_report_kind::over_threshold, [&](core::request_report& to) {
            to.add(service, total, std::forward<Describe>(describe));
        });
    }

    bool wants_orphans() const noexcept { return reports_orphans_ || feed_ != nullptr; }
    /// A reply came whose request was given up. `timeout`: of its operation.
    void reply_orphaned(observer_records::reply_orphaned what, std::chrono::milliseconds timeout);

    /// The client is closed: the last reports are made at once, and the last events delivered,
    /// unless that takes longer than a second.
    runtime::awaitable<void> close();
    /// The client has gone: from now on nothing is reported or delivered.
    void abandon();

private:
    /// One kind of report, with what has come in since the last one.
    struct pending_report {
        core::request_report requests;
        bool is_scheduled = false;
    };

    bool is_slow(std::string_view service, duration total) const noexcept;
    void add(request_report_kind kind, const std::function<void(core::request_report&)>& put);
    static runtime::awaitable<void> report_later(std::shared_ptr<observation> self,
                                                 request_report_kind kind);
    void report_now(request_report_kind kind);
    pending_report& of(request_report_kind kind) noexcept
    {
        return kind == request_report_kind::orphaned ? orphans_ : slow_;
    }

    runtime::world& world_;
    const std::vector<service_threshold> thresholds_;
    const bool reports_orphans_;
    const duration interval_;
    const std::size_t sample_;
    const std::function<void(request_report_kind, const std::string&)> report_;
    const std::shared_ptr<observer_feed> feed_;

    std::mutex mutex_;
    bool is_abandoned_ = false;
    pending_report slow_;
    pending_report orphans_;
    runtime::background tasks_;
};

}  // namespace holdfast::shell
