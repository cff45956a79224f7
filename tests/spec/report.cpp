#include "report.hpp"

#include "options.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <utility>

namespace holdfast::spec {
namespace {

constexpr std::string_view no_format = "no format known";

}  // namespace

void report::add(record one)
{
    std::visit([this](auto&& each) { take(std::move(each)); }, std::move(one));
}

void report::take(case_result one)
{
    const std::string name = one.file + ": " + one.description;
    if (const auto* const f = std::get_if<failed>(&one.came)) {
        ++failed_;
        std::cout << "FAILED " << name << "\n    " << f->why << '\n';
    } else if (std::holds_alternative<skipped>(one.came)) {
        ++skipped_;
    } else {
        ++passed_;
        if (verbose_)
            std::cout << "passed " << name << " (" << one.profile << ")\n";
    }
    entries_.push_back(std::move(one));
}

/// It is printed after the count.
void report::take(applied_exception one)
{
    exceptions_.push_back(std::move(one.text));
}

void report::take(unknown_file one)
{
    ++skipped_;
    unknown_.push_back(one.file);
    entries_.push_back({std::move(one.file), {}, {}, skipped{std::string{no_format}}});
}

void report::print_summary() const
{
    for (const case_result& e : entries_) {
        const auto* const s = std::get_if<skipped>(&e.came);
        if (s && s->reason != no_format)
            std::cout << "skipped " << e.file << ": " << e.description << ": " << s->reason << '\n';
    }
    if (!unknown_.empty()) {
        std::cout << no_format << ": " << unknown_.size() << " files\n";
        for (const std::string& file : unknown_)
            std::cout << "    " << file << '\n';
    }
    print_reasons();
    std::cout << passed_ << " passed, " << failed_ << " failed, " << skipped_ << " skipped\n";
    for (const std::string& e : exceptions_)
        std::cout << "exception: " << e << '\n';
}

/// How many were skipped for each reason, the most frequent first.
void report::print_reasons() const
{
    std::map<std::string_view, std::size_t> counts;
    for (const case_result& e : entries_) {
        if (const auto* const s = std::get_if<skipped>(&e.came))
            ++counts[s->reason];
    }
    std::vector<std::pair<std::size_t, std::string_view>> all;
    for (const auto& [reason, count] : counts)
        all.emplace_back(count, reason);
    std::ranges::sort(all, std::greater{});
    for (const auto& [count, reason] : all)
        std::cout << count << " skipped: " << reason << '\n';
}

void report::write_json(const std::filesystem::path& to) const
{
    boost::json::array cases;
    for (const case_result& e : entries_) {
        const auto [came, reason] = to_text(e.came);
        cases.push_back({{"file", e.file},
                         {"description", e.description},
                         {"profile", e.profile},
                         {"outcome", came},
                         {"reason", reason}});
    }
    const boost::json::value all{{"passed", passed_},
                                 {"failed", failed_},
                                 {"skipped", skipped_},
                                 {"cases", std::move(cases)}};
    std::ofstream out{to};
    out << all << '\n';
    if (!out.flush())
        throw usage_error{"cannot write " + to.string()};
}

}  // namespace holdfast::spec
