#include "tools/holdfast/drill/report.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace holdfast::drill {
namespace {

constexpr std::size_t complaints_shown = 10;

/// With bars between them and numbers as usual, 80 columns.
constexpr std::array<std::string_view, 10> headings{"scenario", "faults", "writes",  "acknowledged",
                                                    "retried",  "failed", "unclear", "lost",
                                                    "twice",    "pause"};
using row = std::array<std::string, headings.size()>;

double ms(duration time)
{
    return std::chrono::duration<double, std::milli>(time).count();
}

std::uint64_t sum(const drill_report& report, std::uint64_t scenario_report::* what)
{
    std::uint64_t all = 0;
    for (const scenario_report& one : report.scenarios)
        all += one.*what;
    return all;
}

std::string whole(double number)
{
    return std::to_string(static_cast<std::int64_t>(number + 0.5));
}

row row_of(std::string name, const tally& of, std::uint64_t faults, std::uint64_t retries)
{
    // What is there although it was said to have failed counts as too much, like a doubled write.
    return {std::move(name),
            std::to_string(faults),
            std::to_string(of.operations),
            std::to_string(of.acknowledged),
            std::to_string(retries),
            std::to_string(of.failed),
            std::to_string(of.unclear),
            std::to_string(of.lost),
            std::to_string(of.doubled + of.untrue),
            whole(ms(of.longest_pause)) + " ms"};
}

row row_of(const scenario_report& scenario, const tally& of)
{
    if (scenario.ran == extent::not_at_all) {
        row made;
        made.fill("-");
        made.front() = scenario.name;
        return made;
    }
    return row_of(scenario.name, of, scenario.faults, scenario.retries);
}

std::string padded(std::string text, std::size_t width, bool right)
{
    const std::string space(width - std::min(width, text.size()), ' ');
    return right ? space + text : text + space;
}

class table {
public:
    explicit table(std::vector<row> rows) : rows_{std::move(rows)}
    {
        for (std::size_t i = 0; i < headings.size(); ++i) {
            width_[i] = headings[i].size();
            for (const row& one : rows_)
                width_[i] = std::max(width_[i], one[i].size());
        }
    }

    std::string draw() const
    {
        row titles;
        std::ranges::copy(headings, titles.begin());
        std::string made = rule("┌", "┬", "┐") + line(titles) + rule("├", "┼", "┤");
        for (std::size_t n = 0; n + 1 < rows_.size(); ++n)
            made += line(rows_[n]);
        if (rows_.size() > 1)
            made += rule("├", "┼", "┤");
        return made + line(rows_.back()) + rule("└", "┴", "┘");
    }

private:
    std::string rule(const char* left, const char* middle, const char* right) const
    {
        std::string made = left;
        for (std::size_t i = 0; i < headings.size(); ++i) {
            for (std::size_t n = 0; n < width_[i]; ++n)
                made += "─";
            made += i + 1 == headings.size() ? right : middle;
        }
        return made + '\n';
    }
    std::string line(const row& one) const
    {
        std::string made = "│";
        for (std::size_t i = 0; i < headings.size(); ++i)
            made += padded(one[i], width_[i], i > 0) + "│";
        return made + '\n';
    }

    std::vector<row> rows_;
    std::array<std::size_t, headings.size()> width_{};
};

std::string sentence(const drill_report& report)
{
    const tally& total = report.found.total;
    if (!report.found.holds())
        return "BROKEN: " + std::to_string(total.lost) + " lost, " + std::to_string(total.doubled) +
               " applied twice, " + std::to_string(total.untrue) +
               " applied although they were said to have failed.";
    if (was_interrupted(report))
        return "interrupted: not all scenarios were run, and this has not shown what it should.";
    if (const std::string wrong = shortcomings(report); !wrong.empty())
        return "FAILED: " + wrong + '.';
    const std::string there = std::to_string(total.acknowledged - total.forgotten);
    if (total.forgotten > 0)
        return "Nothing lost that was durable, nothing applied twice: of " +
               std::to_string(total.acknowledged) + " acknowledged operations " + there +
               " hold, and " + std::to_string(total.forgotten) +
               " writes without durability went with a node.";
    return "Nothing lost, nothing applied twice: each of " + there +
           " acknowledged writes is there once.";
}

std::string_view name_of(extent mode) noexcept
{
    switch (mode) {
    case extent::in_full:
        return "in full";
    case extent::in_part:
        return "in part";
    case extent::not_at_all:
        break;
    }
    return "not at all";
}

void add_tally(bson::builder& to, const tally& of, std::uint64_t retries)
{
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    to.add("operations", number(of.operations))
        .add("acknowledged", number(of.acknowledged))
        .add("retried", number(retries))
        .add("failed", number(of.failed))
        .add("unclear", number(of.unclear))
        .add("lost", number(of.lost))
        .add("lostWithoutDurability", number(of.forgotten))
        .add("appliedTwice", number(of.doubled))
        .add("appliedThoughFailed", number(of.untrue))
        .add("pastDeadline", number(of.late))
        .add("unfinished", number(of.unfinished))
        .add("longestPauseMs", ms(of.longest_pause));
    auto reasons = to.document("reasons");
    for (const auto& [why, times] : of.reasons)
        reasons.add(why, number(times));
}

/// Below the table: what its columns do not say.
std::string remarks(const drill_report& report)
{
    std::string made;
    for (const scenario_report& one : report.scenarios) {
        if (one.ran != extent::in_full)
            made += one.name + ": run " + std::string{name_of(one.ran)} + ".\n";
    }
    // Else they are the sentence.
    const std::string wrong = shortcomings(report);
    if (!wrong.empty() && (!report.found.holds() || was_interrupted(report)))
        made += "Also wrong: " + wrong + ".\n";
    return made;
}

}  // namespace

bool was_interrupted(const drill_report& report) noexcept
{
    return std::ranges::any_of(
        report.scenarios, [](const scenario_report& one) { return one.ran != extent::in_full; });
}

std::string shortcomings(const drill_report& report)
{
    std::string made;
    const auto add = [&](const std::string& what) {
        made.append(made.empty() ? "" : "; ").append(what);
    };
    const tally& total = report.found.total;
    if (total.late > 0)
        add(std::to_string(total.late) + " writes ended after their deadline");
    if (total.unfinished > 0)
        add(std::to_string(total.unfinished) + " writes did not complete once");
    if (!report.all_came_back)
        add("not all clients came back in the end");
    for (const scenario_report& one : report.scenarios) {
        if (!one.trouble.empty())
            add("scenario " + one.name + ": " + one.trouble);
        else if (one.needs_faults && one.faults == 0 && one.ran == extent::in_full)
            add("scenario " + one.name + ": nothing was broken in it, so it has shown nothing");
    }
    if (total.acknowledged == 0 && !was_interrupted(report))
        add("nothing was written, so nothing was shown");
    return made;
}

bool passed(const drill_report& report)
{
    return report.found.holds() && shortcomings(report).empty();
}

std::string draw(const drill_report& report)
{
    std::vector<row> rows;
    for (std::size_t n = 0; n < report.scenarios.size(); ++n)
        rows.push_back(row_of(report.scenarios[n], report.found.scenarios[n]));
    const tally& total = report.found.total;
    rows.push_back(row_of("all", total, sum(report, &scenario_report::faults),
                          sum(report, &scenario_report::retries)));
    std::string made = table{std::move(rows)}.draw();
    if (!total.reasons.empty())
        made += "Failed or unclear, and why:\n";
    for (const auto& [why, times] : total.reasons)
        made += "  " + padded(std::to_string(times), 6, true) + "  " + why + '\n';
    made += remarks(report);
    const auto& complaints = report.found.complaints;
    for (std::size_t n = 0; n < std::min(complaints.size(), complaints_shown); ++n)
        made += "  " + complaints[n] + '\n';
    if (complaints.size() > complaints_shown)
        made += "  ...\n";
    return made + sentence(report) + '\n';
}

std::string to_json(const drill_report& report)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    const tally& total = report.found.total;
    out.add("holds", passed(report) && !was_interrupted(report))
        .add("verdict", sentence(report))
        .add("interrupted", was_interrupted(report))
        .add("seconds", report.seconds);
    {
        auto scenarios = out.array("scenarios");
        for (std::size_t n = 0; n < report.scenarios.size(); ++n) {
            auto one = scenarios.document();
            one.add("name", report.scenarios[n].name)
                .add("ran", name_of(report.scenarios[n].ran))
                .add("faults", static_cast<std::int64_t>(report.scenarios[n].faults));
            add_tally(one, report.found.scenarios[n], report.scenarios[n].retries);
        }
    }
    {
        auto all = out.document("total");
        all.add("faults", static_cast<std::int64_t>(sum(report, &scenario_report::faults)));
        add_tally(all, total, sum(report, &scenario_report::retries));
    }
    {
        auto complaints = out.array("complaints");
        for (const std::string& one : report.found.complaints)
            complaints.add(one);
    }
    const auto made = out.finish();
    return made ? bson::to_json(*made).value_or("{}") : std::string{"{}"};
}

}  // namespace holdfast::drill
