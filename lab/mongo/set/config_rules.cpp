#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/config.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace holdfast::lab::mongo {
namespace {

constexpr int incompatible_config = 103;
constexpr std::size_t most_voters = 7;

/// How a member differs from what it must be.
std::optional<std::string> fault_of(const member_config& m)
{
    const std::string who = "member " + m.host + ": ";
    if (m.host.empty())
        return "A member's host is empty";
    if (m.id < 0 || m.id > 255)
        return who + "_id must be between 0 and 255";
    if (m.votes != 0 && m.votes != 1)
        return who + "votes must be 0 or 1";
    if (!(m.priority >= 0 && m.priority <= 1000))
        return who + "priority must be between 0 and 1000";
    if (m.arbiter_only && m.priority > 1)
        return who + "an arbiter's priority must be 0 or 1";
    if (m.arbiter_only && !m.voter())
        return who + "Arbiter must vote (cannot have 0 votes)";
    if (m.priority > 0 && !m.voter() && !m.arbiter_only)
        return who + "priority must be 0 when non-voting (votes:0)";
    if (m.hidden && m.priority != 0)
        return who + "priority must be 0 when hidden=true";
    if (m.delay_secs < 0 || m.delay_secs > 366LL * 24 * 3600)
        return who + "secondaryDelaySecs field value is out of range";
    if (m.delay_secs > 0 && m.priority != 0)
        return who + "priority must be 0 when secondaryDelaySecs is used";
    return std::nullopt;
}

}  // namespace

result<void> check_config(const set_config& what)
{
    if (what.name.empty())
        return invalid_config("Replica set configuration must have a non-empty _id");
    if (what.version < 1 || what.version > 2'147'483'647)
        return invalid_config("version field value is out of range");
    if (what.members.empty() || what.members.size() > most_members)
        return invalid_config("Replica set configuration contains " +
                              std::to_string(what.members.size()) +
                              " members, but must have at least 1 and no more than  50");
    std::set<std::int32_t> ids;
    std::set<std::string_view> hosts;
    for (const member_config& m : what.members) {
        if (auto fault = fault_of(m))
            return invalid_config(*std::move(fault));
        if (!ids.insert(m.id).second)
            return invalid_config("Found two member configurations with the same _id field, _id: " +
                                  std::to_string(m.id));
        if (!hosts.insert(m.host).second)
            return invalid_config("Found two member configurations with the same host field: " +
                                  m.host);
    }
    if (what.voters() == 0 || what.voters() > most_voters)
        return invalid_config("Replica set configuration contains " +
                              std::to_string(what.voters()) +
                              " voting members, but must be at least 1 and no more than 7");
    if (std::ranges::none_of(what.members, &member_config::may_stand))
        return invalid_config(
            "Replica set configuration must contain at least one non-arbiter member "
            "with priority > 0");
    for (const auto& [mode, tags] : what.modes) {
        for (const auto& [tag, count] : tags) {
            std::set<std::string_view> values;
            for (const member_config& m : what.members) {
                if (const auto found = m.tags.find(tag); found != m.tags.end())
                    values.insert(found->second);
            }
            if (count < 1 || static_cast<std::size_t>(count) > values.size())
                return invalid_config("Invalid mode " + mode + ": not enough members with tag " +
                                      tag);
        }
    }
    return {};
}

result<void> check_reconfig(const set_config& now, const set_config& next, bool force)
{
    const auto no = [](std::string why) { return refuse(incompatible_config, std::move(why)); };
    if (next.name != now.name)
        return invalid_config("Attempting to reconfigure a replica set with name " + next.name +
                              ", but command line reports " + now.name + "; rejecting");
    if (auto fine = check_config(next); !fine)
        return no(std::string{fine.error().message()});
    if (!force && next.version <= now.version)
        return no("New replica set configuration version must be greater than old, but " +
                  std::to_string(next.version) + " is not greater than " +
                  std::to_string(now.version) + " for replica set " + now.name);
    std::size_t changed_votes = 0;
    for (const member_config& m : next.members) {
        const member_config* const same_host = now.by_host(m.host);
        if (same_host && same_host->id != m.id)
            return no("New and old configurations both have members with host of " + m.host +
                      " but in the new configuration the _id field is " + std::to_string(m.id) +
                      " and in the old configuration it is " + std::to_string(same_host->id));
        if (same_host && same_host->arbiter_only != m.arbiter_only)
            return no(
                "New and old configurations differ in the setting of the arbiterOnly field "
                "for member " +
                m.host +
                "; to make this change, remove then re-add the "
                "member");
        const member_config* const same = now.by_id(m.id);
        changed_votes += (same && same->voter()) != m.voter() ? 1U : 0U;
    }
    for (const member_config& m : now.members)
        changed_votes += !next.by_id(m.id) && m.voter() ? 1U : 0U;
    if (!force && changed_votes > 1)
        return no("Non force replica set reconfig can only add or remove at most 1 voting member.");
    return {};
}

bool newer(const set_config& a, std::int64_t b_version, std::int64_t b_term) noexcept
{
    if (a.term >= 0 && b_term >= 0 && a.term != b_term)
        return a.term > b_term;
    return a.version > b_version;
}

}  // namespace holdfast::lab::mongo
