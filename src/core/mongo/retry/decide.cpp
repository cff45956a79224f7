#include "core/mongo/retry/decide.hpp"

#include "core/retry/backoff.hpp"

#include <limits>

namespace holdfast::core::mongo {

namespace {

constexpr tokens price_of_retry = tokens::whole(1);
constexpr tokens earned_by_success{1};  // a tenth
constexpr tokens earned_by_honest_failure = tokens::whole(1);

bool has_budget(const retry_policy& policy)
{
    return policy.adaptive && policy.profile.has_token_bucket;
}

bool options_allow(const retry_policy& policy)
{
    switch (policy.kind) {
    case retry_kind::read:
        return policy.retry_reads;
    case retry_kind::write:
        return policy.retry_writes;
    case retry_kind::generic:
        return policy.retry_reads && policy.retry_writes;
    case retry_kind::end_transaction:
        return true;
    }
    return false;
}

/// Whether the error is of the kind that another attempt may mend; if not, why.
std::optional<retry_outcome> objection(const retry_policy& policy, const failed_attempt& failed)
{
    if (!options_allow(policy))
        return retry_outcome::switched_off;
    if (is_retryable_overload(failed))
        return std::nullopt;
    const bool mends = policy.kind == retry_kind::read ? is_retryable_read_error(failed)
                                                       : is_retryable_write_error(failed);
    if (!mends)
        return retry_outcome::final_error;
    return policy.repeatable ? std::nullopt : std::optional{retry_outcome::not_repeatable};
}

/// The retries that an operation is entitled to, whether or not it has a deadline.
std::uint32_t ordinary_limit(const retry_policy& policy, bool overload_seen)
{
    return overload_seen ? policy.profile.max_overload_retries : 1;
}

std::uint32_t limit(const retry_policy& policy, bool overload_seen)
{
    if (!overload_seen && policy.until.is_set())
        return std::numeric_limits<std::uint32_t>::max();
    return ordinary_limit(policy, overload_seen);
}

/// Whether the last attempt was a retry that counts for the budget: one that only the deadline has
/// allowed neither costs a token nor returns one.
bool was_ordinary_retry(const retry_policy& policy, const retry_progress& progress)
{
    return progress.retries > 0 &&
           progress.retries <= ordinary_limit(policy, progress.overload_seen);
}

/// Whether the failure replaces that of an earlier attempt in what the application sees. Of a write
/// it must show that the command was tried: a failed login says nothing about a write that was sent
/// before. Reads report the newest error of a server.
bool replaces_earlier(const retry_policy& policy, const failed_attempt& failed)
{
    const bool tried = failed.sent || policy.kind == retry_kind::read;
    return tried && involves_server(failed) && !failed.labels.no_writes_performed;
}

bool avoids_failed_server(const retry_policy& policy, const failed_attempt& failed)
{
    return policy.profile.always_retargets || failed.sharded ||
           (policy.retarget_on_overload && is_overload(failed));
}

std::string in_milliseconds(duration d)
{
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
}

}  // namespace

duration overload_backoff(const resilience_profile& profile, std::uint32_t retry,
                          std::optional<duration> base_from_server, double chance)
{
    const bool theirs = profile.server_sets_base && base_from_server &&
                        *base_from_server > duration::zero();
    const duration base = theirs ? *base_from_server : profile.base_backoff;
    return full_jitter(base, profile.first_doublings + retry - 1, profile.max_backoff, chance);
}

duration deadline_backoff(std::uint32_t nth, double chance)
{
    using std::chrono::milliseconds;
    return equal_jitter(milliseconds{50}, nth - 1, milliseconds{1000}, chance);
}

token_bucket reward(const retry_policy& policy, const retry_progress& progress, token_bucket bucket)
{
    if (!has_budget(policy))
        return bucket;
    bucket = bucket.earn(earned_by_success);
    return was_ordinary_retry(policy, progress) ? bucket.earn(price_of_retry) : bucket;
}

retry_decision decide(const retry_policy& policy, const retry_progress& progress,
                      const failed_attempt& failed, token_bucket bucket, time_point now,
                      double chance)
{
    const bool overload = is_overload(failed);
    retry_decision d;
    d.progress = progress;
    d.progress.failed_before = true;
    // Without any that replaces it, the first is reported.
    d.reports_this = !progress.failed_before || replaces_earlier(policy, failed);
    d.tokens = bucket;
    // The server was well enough to say no for another reason: what the retry cost comes back.
    if (has_budget(policy) && was_ordinary_retry(policy, progress) && !overload)
        d.tokens = bucket.earn(earned_by_honest_failure);
    const auto stop = [&](retry_outcome why) { return d.outcome = why, d; };

    if (const auto why = objection(policy, failed))
        return stop(*why);
    d.progress.overload_seen = progress.overload_seen || overload;
    if (progress.retries >= limit(policy, d.progress.overload_seen))
        return stop(retry_outcome::limit_reached);
    if (policy.until.expired(now))
        return stop(retry_outcome::deadline_passed);
    const std::uint32_t retry = progress.retries + 1;
    const std::uint32_t ordinary = ordinary_limit(policy, d.progress.overload_seen);
    if (retry > ordinary) {
        d.wait = deadline_backoff(retry - ordinary, chance);
        if (d.wait > policy.until.left(now))
            return stop(retry_outcome::wait_too_long);
    }
    if (overload) {
        d.wait = overload_backoff(policy.profile, retry, failed.base_backoff, chance);
        if (d.wait > policy.until.left(now))
            return stop(retry_outcome::wait_too_long);
        if (has_budget(policy)) {
            const auto paid = d.tokens.spend(price_of_retry);
            if (!paid)
                return stop(retry_outcome::budget_used_up);
            d.tokens = *paid;
        }
    }
    d.progress.retries = retry;
    d.avoids_server = avoids_failed_server(policy, failed);
    d.outcome = overload           ? retry_outcome::after_backoff
                : retry > ordinary ? retry_outcome::after_deadline_backoff
                                   : retry_outcome::at_once;
    return d;
}

std::string describe(const retry_decision& d)
{
    const std::string retry = "retry " + std::to_string(d.progress.retries);
    switch (d.outcome) {
    case retry_outcome::at_once:
        return retry + ", at once";
    case retry_outcome::after_backoff:
        return retry + ", after " + in_milliseconds(d.wait) + ": the server is overloaded";
    case retry_outcome::after_deadline_backoff:
        return retry + ", after " + in_milliseconds(d.wait) + ": the deadline allows more";
    case retry_outcome::switched_off:
        return "not retried: switched off by retryReads or retryWrites";
    case retry_outcome::final_error:
        return "not retried: another attempt would not help";
    case retry_outcome::not_repeatable:
        return "not retried: another attempt might apply it twice";
    case retry_outcome::limit_reached:
        return d.progress.retries == 1 ? "not retried: one retry is the limit"
                                       : "not retried: " + std::to_string(d.progress.retries) +
                                             " retries are the limit";
    case retry_outcome::deadline_passed:
        return "not retried: the deadline has passed";
    case retry_outcome::wait_too_long:
        return "not retried: a wait of " + in_milliseconds(d.wait) +
               " would end after the deadline";
    case retry_outcome::budget_used_up:
        return "not retried: the retry budget is used up";
    }
    return {};
}

}  // namespace holdfast::core::mongo
