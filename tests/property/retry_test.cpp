// Random failures: limits, deadline, budget and safety hold whatever goes wrong.
#include "check.hpp"
#include "choices.hpp"
#include "core/mongo/retry/decide.hpp"
#include "support/verifies.hpp"

#include <limits>

namespace holdfast::property::retry_test {
namespace {

using namespace core::mongo;
using core::token_bucket;
using core::tokens;
using std::chrono::milliseconds;

/// One operation that fails again and again until it is not tried any more, or the choices end.
class failing_operation {
public:
    explicit failing_operation(std::span<const std::uint8_t> bytes) : c_{bytes}
    {
        constexpr retry_kind kinds[] = {retry_kind::read, retry_kind::write, retry_kind::generic,
                                        retry_kind::end_transaction};
        policy_.kind = c_.pick(kinds);
        policy_.repeatable = c_.one_in(2);
        policy_.retry_reads = !c_.one_in(4);
        policy_.retry_writes = !c_.one_in(4);
        policy_.adaptive = c_.one_in(2);
        policy_.retarget_on_overload = c_.one_in(2);
        policy_.profile = c_.one_in(3) ? upstream_2026_07 : as_specified;
        if (c_.one_in(2))
            policy_.until = core::deadline{now_ + milliseconds{c_.below(3000)}};
        tokens_ = token_bucket{{static_cast<std::int32_t>(c_.below(40))}, tokens::whole(3)};
        while (!c_.used_up() && fail_once()) {}
        check_bucket(reward(policy_, progress_, tokens_));
    }

private:
    failed_attempt any_failure()
    {
        constexpr failure_origin origins[] = {failure_origin::server, failure_origin::network,
                                              failure_origin::server, failure_origin::pool_cleared,
                                              failure_origin::client};
        constexpr std::int32_t codes[] = {91, 6, 11600, 262, 64, 462};
        failed_attempt f;
        f.origin = c_.pick(origins);
        f.labels = {.retryable_write = c_.one_in(2),
                    .no_writes_performed = c_.one_in(4),
                    .system_overloaded = c_.one_in(2),
                    .retryable = c_.one_in(2)};
        if (f.origin == failure_origin::server)
            f.code = c_.pick(codes);
        f.max_wire_version = c_.one_in(3) ? 8 : 21;
        if (c_.one_in(4))
            f.base_backoff = milliseconds{static_cast<int>(c_.below(300)) - 50};
        f.sharded = c_.one_in(4);
        return f;
    }

    /// Whether it is tried again.
    bool fail_once()
    {
        now_ += milliseconds{c_.below(200)};
        const failed_attempt f = any_failure();
        const double chance = static_cast<double>(c_.byte()) / 256;
        const retry_decision d = decide(policy_, progress_, f, tokens_, now_, chance);
        overload_seen_ = overload_seen_ || f.labels.system_overloaded;
        RC_ASSERT(d.reports_this || has_failed_);
        has_failed_ = true;
        check_bucket(d.tokens);
        if (!d.retries()) {
            RC_ASSERT(d.tokens.level() >= tokens_.level());  // nothing is paid for nothing
            return false;
        }
        check_retry(f, d);
        ++retries_;
        RC_ASSERT(d.progress.retries == retries_);
        now_ += d.wait;
        tokens_ = d.tokens;
        progress_ = d.progress;
        return true;
    }

    void check_retry(const failed_attempt& f, const retry_decision& d) const
    {
        const bool overloaded = f.labels.system_overloaded && f.labels.retryable;
        RC_ASSERT(overloaded || policy_.repeatable);
        RC_ASSERT(f.origin != failure_origin::client || overloaded);
        if (policy_.kind != retry_kind::end_transaction) {
            RC_ASSERT(policy_.kind == retry_kind::read || policy_.retry_writes);
            RC_ASSERT(policy_.kind == retry_kind::write || policy_.retry_reads);
        }
        std::uint32_t limit = policy_.until.is_set() ? std::numeric_limits<std::uint32_t>::max()
                                                     : 1;
        if (overload_seen_)
            limit = policy_.profile.max_overload_retries;
        RC_ASSERT(retries_ < limit);
        RC_ASSERT(d.wait >= duration::zero() && d.wait <= policy_.profile.max_backoff);
        const bool by_deadline_only = retries_ > 0 && !overload_seen_;
        if (by_deadline_only)
            RC_ASSERT(d.wait >= milliseconds{25} && d.wait < milliseconds{1000});
        else
            RC_ASSERT(f.labels.system_overloaded || d.wait == duration::zero());
        if (policy_.until.is_set()) {
            RC_ASSERT(now_ < policy_.until.when());
            RC_ASSERT(now_ + d.wait <= policy_.until.when());
        }
        const bool pays = policy_.adaptive && policy_.profile.has_token_bucket;
        if (pays && f.labels.system_overloaded)
            RC_ASSERT(d.tokens.level().tenths == tokens_.level().tenths - 10);
    }

    static void check_bucket(const token_bucket& b)
    {
        RC_ASSERT(b.level() >= tokens{} && b.level() <= b.capacity());
        RC_ASSERT(b.capacity() == tokens::whole(3));
    }

    choices c_;
    retry_policy policy_;
    retry_progress progress_;
    token_bucket tokens_;
    time_point now_{std::chrono::hours{1}};
    std::uint32_t retries_ = 0;
    bool overload_seen_ = false;
    bool has_failed_ = false;
};

TEST(retry_property, random_failures_keep_retry_limit_deadline_and_safety)
{
    VERIFIES("BP-031");
    check([] { failing_operation{*any_choices()}; });
}

}  // namespace
}  // namespace holdfast::property::retry_test
