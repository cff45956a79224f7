#include "tools/holdfast/drill/judge.hpp"

#include "tools/holdfast/drill/findings.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace holdfast::drill {

std::string_view name_of(action what) noexcept
{
    constexpr std::array<std::string_view, actions> names{
        "insert_one", "insert_many", "update_one", "find_one_and_update",
        "bulk_write", "delete_one",  "increment",  "compare_and_swap",
        "upsert",     "get"};
    return names[static_cast<std::size_t>(what)];
}

namespace {

/// How often something may be there.
struct bounds {
    std::int64_t least = 0;
    std::int64_t most = 0;

    void add(fate of)
    {
        least += of == fate::acknowledged ? 1 : 0;
        most += of == fate::failed ? 0 : 1;
    }
};

class judgement {
public:
    judgement(std::span<const operation> history, const found_state& found, std::size_t scenarios)
        : history_{history}, found_{found}, into_{scenarios}
    {
        for (const operation& one : history_) {
            if (one.removed)
                removals_[*one.removed].push_back(&one);
        }
        for (const auto& [name, page] : found_.pages) {
            for (const token signature : page.signatures)
                ++signatures_[signature];
        }
    }

    verdict pronounce() &&
    {
        for (const operation& one : history_) {
            count(one);
            check_reply(one);
            for (const token inserted : one.inserted)
                check_document(one, inserted);
            if (one.signature)
                check_signature(one, *one.signature);
        }
        check_strangers();
        check_pages();
        check_reported_counts();
        check_counters(history_, found_, into_);
        check_records(history_, found_, into_);
        measure_pauses();
        return std::move(into_.made());
    }

private:
    template <class Map>
    static std::int64_t times(const Map& in, token which)
    {
        const auto found = in.find(which);
        return found == in.end() ? 0 : static_cast<std::int64_t>(found->second);
    }

    void complain(std::string what) { into_.complain(std::move(what)); }
    static std::string describe(const operation& one) { return findings::describe(one); }
    void add(const operation& one, std::uint64_t tally::* what, std::uint64_t by = 1)
    {
        into_.add(one, what, by);
    }
    void count(const operation& one)
    {
        add(one, &tally::operations);
        if (one.end == fate::acknowledged)
            add(one, &tally::acknowledged);
        if (one.end == fate::failed)
            add(one, &tally::failed);
        if (one.end == fate::unclear)
            add(one, &tally::unclear);
        if (!one.reason.empty()) {
            ++into_.scenario_of(one).reasons[one.reason];
            ++into_.made().total.reasons[one.reason];
        }
        if (one.completions != 1 || one.end == fate::running) {
            add(one, &tally::unfinished);
            complain(describe(one) + " completed " + std::to_string(one.completions) + " times" +
                     (one.end == fate::running ? ", and has not come back" : ""));
        } else if (one.deadline && one.ended > *one.deadline) {
            add(one, &tally::late);
            const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(one.ended -
                                                                                    *one.deadline);
            complain(describe(one) + " ended " + std::to_string(late.count()) +
                     " ms after its deadline" + (one.reason.empty() ? "" : ": " + one.reason));
        }
    }

    void check_reply(const operation& one)
    {
        if (one.reply_defect.empty())
            return;
        add(one, &tally::untrue);
        complain("not true: " + one.reply_defect + ", " + describe(one));
    }

    void check_signature(const operation& one, token which)
    {
        bounds allowed;
        allowed.add(one.end_of_signature.value_or(one.end));
        check_bounds(one, "signature", which, times(signatures_, which), allowed);
    }
    void check_bounds(const operation& one, std::string_view kind, token which, std::int64_t there,
                      bounds allowed)
    {
        const std::string what = std::string{kind} + ' ' + std::to_string(which) + ", " +
                                 describe(one);
        if (there < allowed.least) {
            into_.lose(one, found_.replicas_promoted, what);
        } else if (there > 1) {
            add(one, &tally::doubled);
            complain("applied " + std::to_string(there) + " times: " + what);
        } else if (there > allowed.most) {
            add(one, &tally::untrue);
            complain("applied although reported as failed: " + what +
                     (one.reason.empty() ? "" : " (" + one.reason + ")"));
        }
    }

    /// A document may have been deleted again.
    void check_document(const operation& one, token which)
    {
        bounds allowed;
        allowed.add(one.end_of_inserts.value_or(one.end));
        const std::int64_t there = times(found_.documents, which);
        bool deleted = false;
        bool perhaps = false;
        const operation* in_vain = nullptr;
        if (const auto removed = removals_.find(which); removed != removals_.end()) {
            for (const operation* const by : removed->second) {
                const bool was_acknowledged = by->end == fate::acknowledged;
                deleted = deleted || (was_acknowledged && !by->found_nothing);
                perhaps = perhaps || by->end == fate::unclear || by->end == fate::running;
                in_vain = was_acknowledged && by->found_nothing ? by : in_vain;
            }
        }
        if (deleted && there == 1) {
            add(one, &tally::lost);
            complain("lost: the deletion of document " + std::to_string(which) + " by client " +
                     std::to_string(one.client));
            return;
        }
        // Only what was not acknowledged, or another has deleted, may not be found. A deletion that
        // the library has sent again is answered with what the first one has done.
        if (in_vain && allowed.least > 0 && !deleted && !perhaps) {
            add(*in_vain, &tally::lost);
            complain("lost: document " + std::to_string(which) + ", which " + describe(*in_vain) +
                     " did not find" + (there > 0 ? " although it is there" : ""));
            allowed.least = 0;
        }
        if (deleted || perhaps)
            allowed.least = 0;
        check_bounds(one, "document", which, there, allowed);
    }

    /// What is there although no operation wrote it.
    void check_strangers()
    {
        std::set<token> asked;
        for (const operation& one : history_) {
            asked.insert(one.inserted.begin(), one.inserted.end());
            if (one.signature)
                asked.insert(*one.signature);
        }
        const auto check = [&](const auto& all, const char* kind) {
            for (const auto& [which, times] : all) {
                if (asked.contains(which))
                    continue;
                ++into_.made().total.untrue;
                complain(std::string{kind} + ' ' + std::to_string(which) +
                         " is there, and no operation wrote it");
            }
        };
        check(found_.documents, "document");
        check(signatures_, "signature");
    }

    /// A write that counts also signs, and signatures have been looked at one by one.
    void check_pages()
    {
        std::map<std::string_view, const operation*> last;
        for (const operation& one : history_) {
            if (one.signature)
                last[one.page] = &one;
        }
        for (const auto& [name, page] : found_.pages) {
            const auto signatures = static_cast<std::int64_t>(page.signatures.size());
            if (page.count == signatures)
                continue;
            const bool less = page.count < signatures;
            const auto by = static_cast<std::uint64_t>(less ? signatures - page.count
                                                            : page.count - signatures);
            const auto wrong = less ? &tally::lost : &tally::doubled;
            // Whose it was is not known: it counts for the scenario that wrote there last.
            if (const auto writer = last.find(name); writer != last.end())
                add(*writer->second, wrong, by);
            else
                into_.made().total.*wrong += by;
            complain((less ? "lost: " : "applied twice: ") + name + " has counted " +
                     std::to_string(page.count) + ", and has " + std::to_string(signatures) +
                     " signatures");
        }
    }

    /// One change counts and signs, so the place of a signature is the count that its write made.
    /// What was acknowledged a majority has, with all that was before it: neither is undone by a
    /// rollback, pages only grow, and a retry is answered with the count of the write that it
    /// repeats.
    void check_reported_counts()
    {
        for (const operation& one : history_) {
            const bool reports_count = one.what == action::find_one_and_update ||
                                       one.what == action::compare_and_swap;
            if (!reports_count || one.end != fate::acknowledged || !one.signature)
                continue;
            if (!one.durable && found_.replicas_promoted)
                continue;
            if (!one.reported_count) {
                add(one, &tally::lost);
                complain("lost: the reply to " + describe(one) + " has no document");
                continue;
            }
            // A signature that is not there has been complained of.
            if (times(signatures_, *one.signature) > 0 &&
                signed_at(one.page, *one.reported_count) != one.signature) {
                add(one, &tally::lost);
                complain("lost: signature " + std::to_string(*one.signature) + " is not the " +
                         std::to_string(*one.reported_count) + ". of " + one.page +
                         ", as was reported to " + describe(one));
            }
        }
    }
    std::optional<token> signed_at(const std::string& name, std::int64_t count) const
    {
        const auto found = found_.pages.find(name);
        if (found == found_.pages.end() || count < 1 ||
            count > static_cast<std::int64_t>(found->second.signatures.size()))
            return std::nullopt;
        return found->second.signatures[static_cast<std::size_t>(count - 1)];
    }

    /// Each operation is a witness of how long there has been no acknowledgement when it ends.
    void measure_pauses()
    {
        struct moment {
            time_point when;
            std::size_t scenario;
            bool good;
        };
        std::vector<moment> ends;
        time_point since = time_point::max();
        for (const operation& one : history_) {
            since = std::min(since, one.began);
            ends.push_back({std::max(one.began, one.ended),
                            std::min(one.scenario, into_.made().scenarios.size() - 1),
                            one.end == fate::acknowledged});
        }
        std::ranges::sort(ends, {}, &moment::when);
        for (const moment& now : ends) {
            duration& longest = into_.made().scenarios[now.scenario].longest_pause;
            longest = std::max(longest, now.when - since);
            into_.made().total.longest_pause = std::max(into_.made().total.longest_pause,
                                                        now.when - since);
            if (now.good)
                since = now.when;
        }
    }

    std::span<const operation> history_;
    const found_state& found_;
    std::map<token, std::vector<const operation*>> removals_;
    std::map<token, std::size_t> signatures_;
    findings into_;
};

}  // namespace

verdict judge(std::span<const operation> history, const found_state& found, std::size_t scenarios)
{
    return judgement{history, found, scenarios}.pronounce();
}

}  // namespace holdfast::drill
