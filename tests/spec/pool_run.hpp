#pragma once
#include "core/pool/pool.hpp"

#include <boost/json.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::spec {

/// What a file demands of a pool that is made for it.
struct pool_options {
    core::pool_settings settings = {};
    std::optional<duration> wait_queue_timeout = {};
    std::optional<duration> upkeep_every = std::chrono::milliseconds{10};  // none: never
    boost::json::object as_events = {};  // for the first event
    std::optional<std::string> app_name = {};
};

/// Runs the operations of a file on the pure pool in virtual time. Its threads are queues of
/// operations; time moves on only when none of them can, and then to the next thing that is due.
class pool_run {
public:
    explicit pool_run(const pool_options& options);

    /// The error that ended the main thread, if one did. Throws case_failure if it hangs.
    std::optional<error> run(const boost::json::array& operations);

    /// All events, under the names that official files use.
    const std::vector<boost::json::object>& events() const noexcept { return events_; }

private:
    struct thread {
        std::deque<const boost::json::object*> todo = {};
        std::optional<core::checkout_id> waits_for = {};  // a connection
        std::string label = {};  // that it will get
        std::optional<time_point> asleep_until = {};
        std::optional<error> failed = {};
    };

    bool step(thread& t);
    bool may_go_on(thread& t, const boost::json::object& operation);
    void perform(thread& t, const boost::json::object& operation);
    void check_out(thread& t, const boost::json::object& operation);
    void advance();

    void settle();
    void carry_out(const core::open_connection& e);
    void carry_out(const core::close_connection&) {}
    void carry_out(const core::interrupt_connection& e);
    void carry_out(const core::hand_out& e);
    void carry_out(const core::refuse& e);
    void carry_out(const core::wake_up& e);
    thread& waiting_thread(core::checkout_id who);

    void at(time_point when, std::function<void()> what) { due_.emplace(when, std::move(what)); }
    void keep_up();

    pool_options options_;
    time_point now_{std::chrono::hours{1}};
    core::connection_pool pool_;
    std::map<std::string, thread, std::less<>> threads_;
    std::map<std::string, connection_id, std::less<>> labelled_;
    std::multimap<time_point, std::function<void()>> due_;
    std::optional<time_point> event_deadline_;
    std::uint64_t last_checkout_ = 0;
    std::vector<boost::json::object> events_;
};

}  // namespace holdfast::spec
