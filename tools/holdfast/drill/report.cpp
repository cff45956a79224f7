#include "tools/holdfast/drill/report.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <string_view>
#include <utility>

namespace holdfast::drill {
namespace {

constexpr std::size_t complaints_shown = 10;

constexpr std::array<std::string_view, 9> headings{"scene",   "operations", "acknowledged",
                                                   "retried", "failed",     "unclear",
                                                   "lost",    "twice",      "longest pause"};
using row = std::array<std::string, headings.size()>;

double ms(duration time)
{
    return std::chrono::duration<double, std::milli>(time).count();
}

std::uint64_t retries_of(const drill_report& report, std::size_t scene)
{
    return scene < report.retries.size() ? report.retries[scene] : 0;
}

std::uint64_t all_retries(const drill_report& report)
{
    return std::accumulate(report.retries.begin(), report.retries.end(), std::uint64_t{0});
}

std::string whole(double number)
{
    return std::to_string(static_cast<std::int64_t>(number + 0.5));
}

row row_of(std::string name, const tally& of, std::uint64_t retries)
{
    // What is there although it was said to have failed counts as too much, like a doubled write.
    return {std::move(name),
            std::to_string(of.operations),
            std::to_string(of.acknowledged),
            std::to_string(retries),
            std::to_string(of.failed),
            std::to_string(of.unclear),
            std::to_string(of.lost),
            std::to_string(of.doubled + of.untrue),
            whole(ms(of.longest_pause)) + " ms"};
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
            for (std::size_t n = 0; n < width_[i] + 2; ++n)
                made += "─";
            made += i + 1 == headings.size() ? right : middle;
        }
        return made + '\n';
    }
    std::string line(const row& one) const
    {
        std::string made = "│";
        for (std::size_t i = 0; i < headings.size(); ++i)
            made += ' ' + padded(one[i], width_[i], i > 0) + " │";
        return made + '\n';
    }

    std::vector<row> rows_;
    std::array<std::size_t, headings.size()> width_{};
};

std::string sentence(const tally& total)
{
    if (total.acknowledged == 0)
        return "Nothing was written: this has shown nothing.";
    if (total.lost == 0 && total.doubled == 0 && total.untrue == 0)
        return "Nothing lost, nothing applied twice: each of " +
               std::to_string(total.acknowledged) + " acknowledged writes is there once.";
    return "BROKEN: " + std::to_string(total.lost) + " lost, " + std::to_string(total.doubled) +
           " applied twice, " + std::to_string(total.untrue) +
           " applied although they were said to have failed.";
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
        .add("appliedTwice", number(of.doubled))
        .add("appliedThoughFailed", number(of.untrue))
        .add("pastDeadline", number(of.late))
        .add("unfinished", number(of.unfinished))
        .add("longestPauseMs", ms(of.longest_pause));
    auto reasons = to.document("reasons");
    for (const auto& [why, times] : of.reasons)
        reasons.add(why, number(times));
}

}  // namespace

std::string draw(const drill_report& report)
{
    std::vector<row> rows;
    for (std::size_t n = 0; n < report.scenes.size(); ++n)
        rows.push_back(row_of(report.scenes[n], report.found.scenes[n], retries_of(report, n)));
    const tally& total = report.found.total;
    rows.push_back(row_of("all", total, all_retries(report)));
    std::string made = table{std::move(rows)}.draw();
    if (!total.reasons.empty())
        made += "Failed or unclear, and why:\n";
    for (const auto& [why, times] : total.reasons)
        made += "  " + padded(std::to_string(times), 6, true) + "  " + why + '\n';
    if (total.late > 0)
        made += std::to_string(total.late) + " operations ended after their deadline.\n";
    if (total.unfinished > 0)
        made += std::to_string(total.unfinished) + " operations did not complete once.\n";
    const auto& complaints = report.found.complaints;
    for (std::size_t n = 0; n < std::min(complaints.size(), complaints_shown); ++n)
        made += "  " + complaints[n] + '\n';
    if (complaints.size() > complaints_shown)
        made += "  ...\n";
    return made + sentence(total) + '\n';
}

std::string to_json(const drill_report& report)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    const tally& total = report.found.total;
    out.add("holds", report.found.holds() && report.found.in_time() && total.acknowledged > 0)
        .add("verdict", sentence(total))
        .add("seconds", report.seconds);
    {
        auto scenes = out.array("scenes");
        for (std::size_t n = 0; n < report.scenes.size(); ++n) {
            auto one = scenes.document();
            one.add("name", report.scenes[n]);
            add_tally(one, report.found.scenes[n], retries_of(report, n));
        }
    }
    {
        auto all = out.document("total");
        add_tally(all, total, all_retries(report));
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
