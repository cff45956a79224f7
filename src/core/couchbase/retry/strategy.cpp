#include "core/couchbase/retry/strategy.hpp"

#include "core/retry/backoff.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace holdfast::core::couchbase {

error error_of(std::exception_ptr thrown)
{
    const std::string prefix = "the retry strategy threw: ";
    try {
        std::rethrow_exception(std::move(thrown));
    } catch (const failure& own) {
        return own.error();
    } catch (const boost::system::system_error& known) {
        return error{known.code(), prefix + known.what()};
    } catch (const std::exception& other) {
        return error{errc::retry_strategy_failure, prefix + other.what()};
    } catch (...) {
        return error{errc::retry_strategy_failure, prefix + "something that is no std::exception"};
    }
}

void consult(const retry_strategy& strategy, const retry_request& request, retry_reason reason,
             retry_reply reply)
{
    // One starter for all, so that what is thrown has one way to go.
    std::move(reply).pass_to([&](retry_reply way_back) {
        const retry_answer answer = strategy.retry_after(request, reason);
        if (const retry_action* const now = answer.at_once())
            way_back(*now);
        else
            (*answer.start())(std::move(way_back));
    });
}

}  // namespace holdfast::core::couchbase

namespace holdfast::couchbase {

namespace {

struct terminal_error {
    retry_reason reason;
    errc code;
    std::string_view message;
};

/// In the order of the RFC. One reason is decided at a time, so the order decides nothing here; it
/// does where several facts compete for one request, in core/couchbase/retry/health.cpp.
constexpr terminal_error terminal_errors[] = {
    {retry_reason::authentication_error, errc::authentication_failure,
     "the server rejects the credentials"},
    {retry_reason::tls_error, errc::generic_failure, "TLS failed"},
    {retry_reason::bucket_access_error, errc::generic_failure, "no access to the bucket"},
    {retry_reason::scope_not_found, errc::scope_not_found, "scope not found"},
    {retry_reason::collection_not_found, errc::collection_not_found, "collection not found"},
};

error terminal(const terminal_error& row, const retry_request& request)
{
    std::string message{row.message};
    if (const error* const cause = request.last_failure())
        message.append(": ").append(cause->message());
    return error{row.code, std::move(message)};
}

}  // namespace

backoff_calculator exponential_retry_backoff()
{
    return core::exponential_backoff{};
}

best_effort_retry_strategy::best_effort_retry_strategy(backoff_calculator backoff)
    : backoff_{backoff ? std::move(backoff) : exponential_retry_backoff()}
{
}

retry_answer best_effort_retry_strategy::retry_after(const retry_request& request,
                                                     retry_reason reason) const
{
    if (request.idempotent() || allows_non_idempotent_retry(reason))
        return retry_action::with_duration(backoff_(request.retry_attempts()));
    return retry_action::no_retry();
}

retry_answer fast_fail_on_terminal_error_retry_strategy::retry_after(const retry_request& request,
                                                                     retry_reason reason) const
{
    const auto row = std::ranges::find(terminal_errors, reason, &terminal_error::reason);
    if (row != std::end(terminal_errors))
        return retry_action::fail_with(terminal(*row, request));
    return best_effort_retry_strategy::retry_after(request, reason);
}

retry_strategy_ptr default_retry_strategy()
{
    return std::make_shared<fast_fail_on_terminal_error_retry_strategy>();
}

retry_strategy_ptr choose_strategy(retry_strategy_ptr of_request, retry_strategy_ptr of_cluster)
{
    if (of_request)
        return of_request;
    return of_cluster ? of_cluster : default_retry_strategy();
}

}  // namespace holdfast::couchbase
