// How to write a retry strategy: the code of docs/couchbase-retries.md, as a program.
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/retry.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

namespace couchbase = holdfast::couchbase;
using namespace std::chrono_literals;

// [robots]
// Requests of robots are not worth a second try; all others are treated as usual.
class no_retries_for_robots : public couchbase::fast_fail_on_terminal_error_retry_strategy {
public:
    couchbase::retry_answer retry_after(const couchbase::retry_request& request,
                                        couchbase::retry_reason reason) const override
    {
        if (request.context("isRobotRequest"))
            return couchbase::retry_action::no_retry();
        return fast_fail_on_terminal_error_retry_strategy::retry_after(request, reason);
    }
};
// [robots]

// [limit]
// At most three retries, with an error of our own; and a locked document is not waited for.
class three_retries : public couchbase::best_effort_retry_strategy {
public:
    couchbase::retry_answer retry_after(const couchbase::retry_request& request,
                                        couchbase::retry_reason reason) const override
    {
        if (reason == couchbase::retry_reason::kv_locked)
            return couchbase::retry_action::no_retry();
        if (request.retry_attempts() >= 3)
            return couchbase::retry_action::fail_with(
                {couchbase::errc::temporary_failure, "gave up after three retries"});
        return best_effort_retry_strategy::retry_after(request, reason);
    }
};
// [limit]

// [later]
// Asks an operator. Nothing blocks: the reply is kept until the answer is there.
class ask_the_operator : public couchbase::retry_strategy {
public:
    using questions = std::vector<couchbase::retry_reply>;
    explicit ask_the_operator(std::shared_ptr<questions> open) : open_{std::move(open)} {}

    couchbase::retry_answer retry_after(const couchbase::retry_request&,
                                        couchbase::retry_reason) const override
    {
        return couchbase::retry_answer::later(
            [open = open_](couchbase::retry_reply reply) { open->push_back(std::move(reply)); });
    }

private:
    std::shared_ptr<questions> open_;
};
// [later]

// [never]
// Fails fast on everything that the library does not retry by itself.
class never : public couchbase::retry_strategy {
public:
    couchbase::retry_answer retry_after(const couchbase::retry_request&,
                                        couchbase::retry_reason) const override
    {
        return couchbase::retry_action::no_retry();
    }
};
// [never]

// [backoff]
const auto gentle = std::make_shared<couchbase::best_effort_retry_strategy>(
    [](std::uint32_t attempts_made) { return attempts_made < 10 ? 20ms : 1000ms; });
// [backoff]

int main()
{
    using couchbase::retry_reason;
    couchbase::retry_request::settings of{.operation = "get", .idempotent = true};
    couchbase::retry_request request{of};
    of.context = std::make_shared<couchbase::client_context>(
        couchbase::client_context{{"isRobotRequest", true}});
    const couchbase::retry_request by_robot{of};

    const auto wait = [](const couchbase::retry_strategy& strategy,
                         const couchbase::retry_request& of_whom, retry_reason reason) {
        return strategy.retry_after(of_whom, reason).at_once()->wait();
    };
    bool as_expected = !wait(no_retries_for_robots{}, by_robot, retry_reason::kv_locked) &&
                       wait(no_retries_for_robots{}, request, retry_reason::kv_locked) == 1ms &&
                       !wait(three_retries{}, request, retry_reason::kv_locked) &&
                       wait(three_retries{}, request, retry_reason::kv_temporary_failure) == 1ms &&
                       !wait(never{}, request, retry_reason::node_not_available) &&
                       wait(*gentle, request, retry_reason::kv_locked) == 20ms;
    for (int i = 0; i < 3; ++i)
        request.increment_retry_attempts(retry_reason::kv_temporary_failure);
    const auto fourth = three_retries{}.retry_after(request, retry_reason::kv_temporary_failure);
    as_expected = as_expected && fourth.at_once()->chosen_error().has_value();

    const auto open = std::make_shared<ask_the_operator::questions>();
    const ask_the_operator asking{open};
    bool answered = false;
    const auto later = asking.retry_after(request, retry_reason::kv_locked);
    (*later.start())(couchbase::retry_reply{
        [&](holdfast::result<couchbase::retry_action> answer) { answered = answer.has_value(); }});
    as_expected = as_expected && !answered && open->size() == 1;
    open->front()(couchbase::retry_action::with_duration(5ms));
    std::cout << (as_expected && answered ? "as documented\n" : "not as documented\n");
    return as_expected && answered ? 0 : 1;
}
