#pragma once
#include "holdfast/observer.hpp"
#include "runtime/wait.hpp"
#include "shell/events/event_queue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::shell {

/// Calls a function soon, and not within this call: on whatever thread the observers are for.
using run_later = std::function<void(std::function<void()>)>;

/// An operation, as long as there is news of it to be delivered.
struct kept_operation {
    observed::operation facts = {};  // views of literals, and of what this keeps:
    std::shared_ptr<const void> keeps = {};
};

/// An attempt likewise.
struct kept_attempt {
    std::shared_ptr<const kept_operation> of = {};
    std::uint32_t number = 1;
    std::shared_ptr<const observed::connection> over = {};
    std::string request = {};
    time_point began{};
};

/// An event on its way to the observers.
namespace observer_records {

struct operation_began {
    std::shared_ptr<const kept_operation> of;
};
struct attempt_began {
    std::shared_ptr<const kept_attempt> which;
};
struct attempt_ended {
    std::shared_ptr<const kept_attempt> which;
    time_point ended{};
    dispatch_phase phase = dispatch_phase::answered;
    std::optional<std::chrono::microseconds> server_duration = {};
    error_code code = {};
    std::string_view reason = {};  // a literal
};
struct operation_ended {
    std::shared_ptr<const kept_operation> of;
    time_point ended{};
    std::uint32_t attempts = 0;
    std::uint32_t retries = 0;
    duration encoding{};
    std::optional<error> why = {};
};
struct reply_orphaned {
    std::uint64_t operation = 0;
    std::string_view service = {};  // literals
    std::string_view name = {};
    std::shared_ptr<const observed::connection> over = {};
    std::string request = {};
    observed::orphan_cause cause = observed::orphan_cause::timed_out;
    duration total{};
    duration since_dispatch{};
    std::optional<std::chrono::microseconds> server_duration = {};
};
struct dropped {};

}  // namespace observer_records

using observer_record =
    std::variant<observer_records::operation_began, observer_records::attempt_began,
                 observer_records::attempt_ended, observer_records::operation_ended,
                 observer_records::reply_orphaned, observer_records::dropped>;

/// Carries events from the operations of a client to its observers, which may be slow: what pushes
/// an event never waits for them. The queue has a limit: beyond it new operations, and attempts,
/// are not reported. What has begun is reported to end, so that the queue can be longer by the
/// operations and attempts that are under way.
class observer_feed : public std::enable_shared_from_this<observer_feed> {
public:
    observer_feed(runtime::world& in, std::vector<std::shared_ptr<observer>> to, run_later deliver,
                  std::size_t limit);
    observer_feed(const observer_feed&) = delete;
    observer_feed& operator=(const observer_feed&) = delete;

    std::uint64_t next_operation() noexcept { return operations_.fetch_add(1) + 1; }

    /// Whether there is room to report another operation, or attempt; if not it is counted.
    bool admits_operation() { return admits(dropped_operations_); }
    bool admits_attempt() { return admits(dropped_attempts_); }
    void push(observer_record what);

    /// Whether all has been delivered.
    bool is_empty() const noexcept { return queued_.load() == 0; }
    /// Waits for that, or until then.
    runtime::awaitable<void> delivered(time_point until);
    /// Nothing is delivered from now on, but an event that has begun to be.
    void close();

private:
    bool admits(std::atomic<std::uint64_t>& dropped);
    void wake();
    void run();
    void deliver(const observer_record& what) noexcept;

    const std::vector<std::shared_ptr<observer>> to_;
    const run_later run_later_;
    const std::size_t limit_;
    std::atomic<std::uint64_t> operations_{0};
    std::atomic<std::size_t> queued_{0};  // that were not delivered yet
    std::atomic<std::uint64_t> dropped_operations_{0};
    std::atomic<std::uint64_t> dropped_attempts_{0};
    std::atomic<bool> reports_drops_{false};  // soon: that is queued
    std::atomic<bool> awake_{false};          // run() will be called
    std::atomic<bool> closed_{false};
    event_queue<observer_record> queue_;
    runtime::event emptied_;
};

}  // namespace holdfast::shell
