#pragma once
#include "tools/holdfast/drill/judge.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace holdfast::drill {

/// A verdict in the making: what is counted, and what there is to complain of.
class findings {
public:
    explicit findings(std::size_t scenarios)
    {
        made_.scenarios.resize(std::max<std::size_t>(scenarios, 1));
    }

    void complain(std::string what)
    {
        if (made_.complaints.size() < most_complaints)
            made_.complaints.push_back(std::move(what));
    }

    tally& scenario_of(const operation& one)
    {
        return made_.scenarios[std::min(one.scenario, made_.scenarios.size() - 1)];
    }
    /// The same for the operation's scenario and for all.
    void add(const operation& one, std::uint64_t tally::* what, std::uint64_t by = 1)
    {
        scenario_of(one).*what += by;
        made_.total.*what += by;
    }
    /// An acknowledged effect is missing. That is no fault if it was not durable, and `allowed`.
    void lose(const operation& one, bool allowed, std::string what, std::uint64_t by = 1)
    {
        if (!one.durable && allowed) {
            add(one, &tally::forgotten, by);
            return;
        }
        add(one, &tally::lost, by);
        complain("lost: " + std::move(what));
    }

    static std::string describe(const operation& one)
    {
        return std::string{name_of(one.what)} + " of client " + std::to_string(one.client) +
               " in scenario " + std::to_string(one.scenario);
    }

    verdict& made() noexcept { return made_; }

private:
    static constexpr std::size_t most_complaints = 100;

    verdict made_;
};

/// The parts of judge() for counters and for records.
void check_counters(std::span<const operation> history, const found_state& found, findings& into);
void check_records(std::span<const operation> history, const found_state& found, findings& into);

}  // namespace holdfast::drill
