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

struct text {
    std::string_view outcome;
    std::string_view reason;
};

text to_text(const outcome& came)
{
    if (const auto* const f = std::get_if<failed>(&came))
        return {"failed", f->why};
    if (const auto* const s = std::get_if<skipped>(&came))
        return {"skipped", s->reason};
    return {"passed", {}};
}

}  // namespace

void report::add(const std::string& file, const std::string& description, std::string_view profile,
                 outcome came)
{
    if (const auto* const f = std::get_if<failed>(&came)) {
        ++failed_;
        std::cout << "FAILED " << file << ": " << description << "\n    " << f->why << '\n';
    } else if (std::holds_alternative<skipped>(came)) {
        ++skipped_;
    } else {
        ++passed_;
        if (verbose_)
            std::cout << "passed " << file << ": " << description << " (" << profile << ")\n";
    }
    entries_.push_back({file, description, std::string{profile}, std::move(came)});
}

void report::add_exception(const std::string& name, const exception& what)
{
    exceptions_.push_back(name + " under " + std::string{what.profile} + ": " +
                          std::string{what.why});
}

void report::add_unknown(const std::string& file)
{
    ++skipped_;
    unknown_.push_back(file);
    entries_.push_back({file, {}, {}, skipped{std::string{no_format}}});
}

void report::print_summary() const
{
    for (const entry& e : entries_) {
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
    for (const entry& e : entries_) {
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
    for (const entry& e : entries_) {
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
