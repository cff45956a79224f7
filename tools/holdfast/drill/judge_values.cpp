// Counters and records: documents of which only the last value is there in the end.
#include "tools/holdfast/drill/findings.hpp"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace holdfast::drill {
namespace {

std::int64_t value_in(const std::map<std::string, std::int64_t, std::less<>>& all,
                      const std::string& name)
{
    const auto found = all.find(name);
    return found == all.end() ? 0 : found->second;
}

/// All that was asked of one counter.
struct counter_sum {
    std::int64_t acknowledged = 0;
    std::int64_t unclear = 0;
    const operation* last = nullptr;  // whose the fault is that cannot be given to another
    std::map<std::int64_t, const operation*> replies = {};
};

void check_replies(const std::string& name, const operation& one, counter_sum& sum,
                   const found_state& found, findings& into)
{
    if (!one.reported_count) {
        into.add(one, &tally::lost);
        into.complain("lost: the reply to " + findings::describe(one) + " has no count");
        return;
    }
    // A failover may take a count back that was not durable.
    if (!one.durable && found.replicas_promoted)
        return;
    const auto [first, is_first] = sum.replies.emplace(*one.reported_count, &one);
    if (!is_first)
        into.lose(one, false,
                  name + ": " + findings::describe(*first->second) + " and " +
                      findings::describe(one) + " have both made it " +
                      std::to_string(*one.reported_count));
}

/// What one client has done to a record of its own, operation by operation.
class record_history {
public:
    record_history(const found_state& found, findings& into) : found_{found}, into_{into} {}

    void add(const operation& one)
    {
        if (one.what == action::get) {
            if (one.end == fate::acknowledged)
                check_read(one);
            return;
        }
        if (!one.stored)
            return;
        writes_.emplace(*one.stored, &one);
        if (one.end == fate::acknowledged)
            last_ = &one;
        else if (one.end == fate::failed)
            failed_.insert(*one.stored);
        else
            unclear_.insert(*one.stored);
    }

    void conclude(std::string_view name, std::optional<token> there)
    {
        if (is_expected(there))
            return;
        const std::string what = std::string{name} + " has " + text_of(there);
        if (there && !writes_.contains(*there)) {
            ++into_.made().total.untrue;
            into_.complain(what + ", and no operation wrote it");
        } else if (there && failed_.contains(*there)) {
            const operation& one = *writes_.at(*there);
            into_.add(one, &tally::untrue);
            into_.complain("applied although reported as failed: " + what + ", " +
                           findings::describe(one) + " (" + one.reason + ")");
        } else if (last_ != nullptr) {
            into_.lose(*last_, found_.replicas_promoted,
                       what + ", and not " + std::to_string(*last_->stored) + " of " +
                           findings::describe(*last_));
        }
    }

private:
    static std::string text_of(std::optional<token> value)
    {
        return value ? std::to_string(*value) : "nothing";
    }
    /// The last one that was acknowledged, or whatever is unclear, whenever that is carried out.
    bool is_expected(std::optional<token> value) const
    {
        if (!value)
            return last_ == nullptr;
        return (last_ != nullptr && last_->stored == value) || unclear_.contains(*value);
    }
    void check_read(const operation& one)
    {
        if (is_expected(one.read))
            return;
        const bool excused = found_.stale_reads || (!one.durable && found_.replicas_promoted);
        if (excused && (!one.read || writes_.contains(*one.read)))
            return;
        into_.add(one, &tally::untrue);
        into_.complain("not true: " + findings::describe(one) + " has read " + text_of(one.read) +
                       " from " + one.record + ", where " +
                       (last_ != nullptr ? std::to_string(*last_->stored) : "nothing") +
                       " was stored last");
    }

    const found_state& found_;
    findings& into_;
    const operation* last_ = nullptr;
    std::map<token, const operation*> writes_;
    std::set<token> unclear_;
    std::set<token> failed_;
};

}  // namespace

void check_counters(std::span<const operation> history, const found_state& found, findings& into)
{
    std::map<std::string, counter_sum> sums;
    for (const operation& one : history) {
        if (one.counter.empty())
            continue;
        counter_sum& sum = sums[one.counter];
        sum.last = &one;
        if (one.end == fate::acknowledged) {
            ++sum.acknowledged;
            check_replies(one.counter, one, sum, found, into);
        } else if (one.end != fate::failed) {
            ++sum.unclear;
        }
    }
    for (const auto& [name, sum] : sums) {
        const std::int64_t there = value_in(found.counters, name);
        const std::string what = name + " has counted " + std::to_string(there) + ", of " +
                                 std::to_string(sum.acknowledged) + " acknowledged and " +
                                 std::to_string(sum.unclear) + " unclear increments";
        if (there < sum.acknowledged) {
            into.lose(*sum.last, found.replicas_promoted, what,
                      static_cast<std::uint64_t>(sum.acknowledged - there));
        } else if (there > sum.acknowledged + sum.unclear) {
            into.add(*sum.last, &tally::doubled,
                     static_cast<std::uint64_t>(there - sum.acknowledged - sum.unclear));
            into.complain("applied twice: " + what);
        }
    }
    for (const auto& [name, value] : found.counters) {
        if (sums.contains(name))
            continue;
        ++into.made().total.untrue;
        into.complain(name + " is there, and no operation wrote it");
    }
}

void check_records(std::span<const operation> history, const found_state& found, findings& into)
{
    std::map<std::string, record_history> records;
    for (const operation& one : history) {
        if (!one.record.empty())
            records.try_emplace(one.record, found, into).first->second.add(one);
    }
    for (auto& [name, record] : records) {
        const auto there = found.records.find(name);
        record.conclude(name,
                        there == found.records.end() ? std::nullopt : std::optional{there->second});
    }
}

}  // namespace holdfast::drill
