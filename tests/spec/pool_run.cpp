#include "pool_run.hpp"

#include "case_fields.hpp"
#include "pool_json.hpp"

#include <algorithm>

namespace holdfast::spec {

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr duration opening_takes = 1ms;
constexpr duration longest_run = 10min;
constexpr std::string_view main_thread;

std::chrono::milliseconds ms(const json::object& operation, std::string_view field)
{
    return std::chrono::milliseconds{operation.at(field).as_int64()};
}

std::string_view text(const json::object& operation, std::string_view field)
{
    return operation.at(field).as_string();
}

}  // namespace

pool_run::pool_run(const pool_options& options) : options_{options}, pool_{options.settings}
{
    threads_.try_emplace(std::string{main_thread});
    settle();
    keep_up();
}

void pool_run::keep_up()
{
    if (!options_.upkeep_every)
        return;
    at(now_ + *options_.upkeep_every, [this] {
        pool_.maintain(now_);
        settle();
        keep_up();
    });
}

std::optional<error> pool_run::run(const json::array& operations)
{
    const time_point limit = now_ + longest_run;
    thread& main = threads_.find(main_thread)->second;
    for (const json::value& one : operations)
        main.todo.push_back(&one.as_object());
    for (;;) {
        bool moved = false;
        for (auto& [name, t] : threads_)
            while (step(t))
                moved = true;
        const bool done = main.todo.empty() && !main.waits_for && !main.asleep_until;
        if (main.failed || done)
            return main.failed;
        demand(now_ < limit && (moved || !due_.empty()), "the main thread waits for ever");
        if (!moved)
            advance();
    }
}

/// Whether the thread has done something.
bool pool_run::step(thread& t)
{
    if (t.failed || t.waits_for || (t.asleep_until && now_ < *t.asleep_until))
        return false;
    t.asleep_until.reset();
    if (t.todo.empty())
        return false;
    const json::object& operation = *t.todo.front();
    if (!may_go_on(t, operation))
        return false;
    t.todo.pop_front();
    const json::value* const other = operation.if_contains("thread");
    if (other && &t == &threads_.find(main_thread)->second)
        threads_.at(std::string{other->as_string()}).todo.push_back(&operation);
    else
        perform(t, operation);
    settle();
    return true;
}

/// False while the operation waits for something to happen.
bool pool_run::may_go_on(thread& t, const json::object& operation)
{
    const std::string_view name = text(operation, "name");
    if (name == "waitForThread") {
        const thread& other = threads_.at(std::string{text(operation, "target")});
        if (other.failed)
            t.failed = other.failed;
        return other.failed || (other.todo.empty() && !other.waits_for && !other.asleep_until);
    }
    if (name != "waitForEvent")
        return true;
    const auto wanted = operation.at("count").as_int64();
    const std::string_view event = text(operation, "event");
    if (std::ranges::count_if(
            events_, [&](const json::object& e) { return text(e, "type") == event; }) >= wanted) {
        event_deadline_.reset();
        return true;
    }
    if (!event_deadline_ && operation.contains("timeout")) {
        event_deadline_ = now_ + ms(operation, "timeout");
        at(*event_deadline_, [] {});
    }
    demand(!event_deadline_ || now_ < *event_deadline_,
           "no " + std::string{event} + " number " + std::to_string(wanted) + " in time");
    return false;
}

void pool_run::perform(thread& t, const json::object& operation)
{
    demand_only(operation, {"name", "thread", "target", "ms", "event", "count", "timeout", "label",
                            "connection", "interruptInUseConnections"});
    const std::string_view name = text(operation, "name");
    if (name == "start") {
        threads_.try_emplace(std::string{text(operation, "target")});
    } else if (name == "wait") {
        t.asleep_until = now_ + ms(operation, "ms");
        at(*t.asleep_until, [] {});
    } else if (name == "checkOut") {
        check_out(t, operation);
    } else if (name == "checkIn") {
        pool_.check_in(labelled_.at(std::string{text(operation, "connection")}), false, now_);
    } else if (name == "clear") {
        const json::value* const interrupt = operation.if_contains("interruptInUseConnections");
        const error reset{make_error_code(boost::system::errc::connection_reset), "cleared"};
        pool_.clear(reset, std::nullopt, interrupt && interrupt->as_bool(), now_);
    } else if (name == "ready") {
        pool_.mark_ready(now_);
    } else if (name == "close") {
        pool_.close(now_);
    } else {
        demand(name == "waitForThread" || name == "waitForEvent",
               "the runner does not know this operation: " + std::string{name});
    }
}

void pool_run::check_out(thread& t, const json::object& operation)
{
    const json::value* const label = operation.if_contains("label");
    t.label = label ? std::string{label->as_string()} : "";
    if (const auto at_once = pool_.check_out_now(now_)) {
        labelled_[t.label] = *at_once;
        return;
    }
    const core::checkout_id who{++last_checkout_};
    t.waits_for = who;
    pool_.check_out(who, now_);
    if (options_.wait_queue_timeout)
        at(now_ + *options_.wait_queue_timeout, [this, who] {
            pool_.cancel(who, core::checkout_failure::timeout, now_);
            settle();
        });
}

void pool_run::advance()
{
    const auto next = due_.begin();
    now_ = std::max(now_, next->first);
    const auto what = std::move(next->second);
    due_.erase(next);
    what();
}

/// Writes down the events of the pool and does what it asks for, until it asks for nothing more.
void pool_run::settle()
{
    do {
        for (const core::pool_event& e : pool_.take_events())
            events_.push_back(to_text(e, options_.as_events));
        for (const core::pool_effect& e : pool_.take_effects())
            std::visit([this](const auto& one) { carry_out(one); }, e);
    } while (pool_.has_effects());
    for (const core::pool_event& e : pool_.take_events())
        events_.push_back(to_text(e, options_.as_events));
}

void pool_run::carry_out(const core::open_connection& e)
{
    at(now_ + opening_takes, [this, id = e.id] {
        pool_.opened(id, std::nullopt, now_);
        settle();
    });
}

/// The thread that has the connection finds it broken and checks it in.
void pool_run::carry_out(const core::interrupt_connection& e)
{
    pool_.check_in(e.id, true, now_);
}

void pool_run::carry_out(const core::hand_out& e)
{
    thread& t = waiting_thread(e.to);
    labelled_[t.label] = e.connection;
}

void pool_run::carry_out(const core::refuse& e)
{
    thread& t = waiting_thread(e.who);
    demand(e.cause.has_value(), "a checkout was refused without a cause");
    t.failed = e.cause;
}

void pool_run::carry_out(const core::wake_up& e)
{
    at(e.at, [this] {
        pool_.woke(now_);
        settle();
    });
}

pool_run::thread& pool_run::waiting_thread(core::checkout_id who)
{
    for (auto& [name, t] : threads_) {
        if (t.waits_for == who) {
            t.waits_for.reset();
            return t;
        }
    }
    throw case_failure{"the pool answers a check-out that does not wait"};
}

}  // namespace holdfast::spec
