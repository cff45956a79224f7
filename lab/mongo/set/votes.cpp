#include "lab/mongo/set/votes.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace holdfast::lab::mongo {
namespace {

std::string text(const optime& at)
{
    return "{ ts: Timestamp(" + std::to_string(at.ts.seconds) + ", " +
           std::to_string(at.ts.increment) + "), t: " + std::to_string(at.term) + " }";
}

}  // namespace

vote decide_vote(const vote_request& from, const voter_state& own)
{
    const auto no = [](std::string why) { return vote{false, std::move(why)}; };
    const std::string terms = std::to_string(from.term) + ") is lower than mine (" +
                              std::to_string(own.term) + ")";
    if (from.set != own.config.name)
        return no("candidate's set name (" + from.set + ") differs from mine (" + own.config.name +
                  ")");
    if (from.term < own.term)
        return no("candidate's term (" + terms);
    if (newer(own.config, from.config_version, from.config_term))
        return no("candidate's config with {version: " + std::to_string(from.config_version) +
                  ", term: " + std::to_string(from.config_term) + "} is older than mine");
    if (from.candidate < 0 || static_cast<std::size_t>(from.candidate) >= own.config.members.size())
        return no("candidate's index is out of range");
    if (from.last < own.last)
        return no("candidate's data is staler than mine. candidate's last applied OpTime: " +
                  text(from.last) + ", my last applied OpTime: " + text(own.last));
    if (!from.dry_run && own.voted_in && *own.voted_in >= from.term)
        return no("already voted for another candidate this term (" + std::to_string(from.term) +
                  ")");
    if (own.arbiter && own.sees_primary)
        return no("can see a healthy primary of equal or greater priority");
    return {true, {}};
}

duration election_delay(const set_config& config, double chance) noexcept
{
    const duration base = config.election_timeout;
    return base + std::chrono::duration_cast<duration>(base * (0.15 * chance));
}

time_point majority_heard(const set_config& config, std::int32_t self, time_point now,
                          std::span<const std::pair<std::int32_t, time_point>> heard)
{
    std::vector<time_point> times;
    for (const member_config& m : config.members) {
        if (!m.voter())
            continue;
        const auto of = std::ranges::find(heard, m.id, &std::pair<std::int32_t, time_point>::first);
        if (m.id == self)
            times.push_back(now);
        else
            times.push_back(of == heard.end() ? time_point::min() : of->second);
    }
    if (times.size() < config.majority())
        return time_point::min();
    std::ranges::sort(times, std::greater<>{});
    return times[config.majority() - 1];
}

}  // namespace holdfast::lab::mongo
