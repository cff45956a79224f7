#pragma once
#include "holdfast/observer.hpp"
#include "shell/observe/observer_feed.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// Writes down what it is notified of: "began get 1".
class written_observer final : public observer {
public:
    using observer::on;
    void on(const observed::operation_began& e) noexcept override { line("began", e.of); }
    void on(const observed::attempt_began& e) noexcept override
    {
        line("attempt " + std::to_string(e.which.number) + " " + std::string{e.which.request},
             e.of);
    }
    void on(const observed::attempt_ended& e) noexcept override
    {
        line("attempt " + std::to_string(e.which.number) + (e.code ? " failed" : " done"), e.of);
    }
    void on(const observed::operation_ended& e) noexcept override
    {
        line(e.why == nullptr ? "done" : "failed", e.of);
    }
    void on(const observed::reply_orphaned& e) noexcept override
    {
        lines.push_back("orphan of " + std::to_string(e.operation) + " " +
                        std::string{name_of(e.cause)});
    }
    void on(const observed::records_dropped& e) noexcept override
    {
        lines.push_back("dropped " + std::to_string(e.operations) + "+" +
                        std::to_string(e.attempts));
    }

    std::vector<std::string> take() { return std::exchange(lines, {}); }
    std::vector<std::string> lines = {};

private:
    void line(const std::string& what, const observed::operation& of)
    {
        lines.push_back(what + " " + std::string{of.name} + " " + std::to_string(of.id));
    }
};

/// Calls what was handed to it when the test says so.
struct manual_place {
    std::shared_ptr<std::deque<std::function<void()>>> jobs =
        std::make_shared<std::deque<std::function<void()>>>();

    shell::run_later runner() const
    {
        return [jobs = jobs](std::function<void()> one) { jobs->push_back(std::move(one)); };
    }
    void run() const
    {
        while (!jobs->empty()) {
            const auto next = std::move(jobs->front());
            jobs->pop_front();
            next();
        }
    }
};

inline observed::operation operation_called(std::string_view name, time_point began = {})
{
    observed::operation made;
    made.system = "couchbase";
    made.service = "kv";
    made.name = name;
    made.began = began;
    return made;
}

inline std::shared_ptr<const observed::connection> connection_to(std::string server)
{
    return std::make_shared<const observed::connection>(
        observed::connection{endpoint{std::move(server)}, "here:1", "AA/01"});
}

}  // namespace holdfast::proof
