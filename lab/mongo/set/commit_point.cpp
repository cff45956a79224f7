#include "lab/mongo/set/commit_point.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {
namespace {

bool has(const positions& known, const member_config& who, const optime& wrote)
{
    const auto found = known.find(who.id);
    return who.has_data() && found != known.end() && found->second >= wrote;
}

bool mode_is_met(const set_config& config, const positions& known, const optime& wrote,
                 const tag_mode& mode)
{
    return std::ranges::all_of(mode, [&](const auto& wanted) {
        std::set<std::string_view> values;
        for (const member_config& m : config.members) {
            const auto tag = m.tags.find(wanted.first);
            if (tag != m.tags.end() && has(known, m, wrote))
                values.insert(tag->second);
        }
        return static_cast<std::int64_t>(values.size()) >= wanted.second;
    });
}

}  // namespace

optime commit_point(const set_config& config, const positions& known, std::int64_t term,
                    const optime& before)
{
    std::vector<optime> reached;
    for (const member_config& m : config.members) {
        if (!m.voter() || !m.has_data())
            continue;
        const auto found = known.find(m.id);
        reached.push_back(found == known.end() ? optime{} : found->second);
    }
    const std::size_t needed = config.write_majority();
    if (needed == 0 || reached.size() < needed)
        return before;
    std::ranges::sort(reached, std::greater<>{});
    const optime& all_have = reached[needed - 1];
    return all_have.term == term ? std::max(all_have, before) : before;
}

bool is_met(const set_config& config, const positions& known, const optime& committed,
            const optime& wrote, const write_concern& concern)
{
    if (!concern.acknowledged())
        return true;
    if (!concern.mode.empty()) {
        const auto mode = config.modes.find(concern.mode);
        return mode != config.modes.end() && mode_is_met(config, known, wrote, mode->second);
    }
    if (concern.majority)
        return committed >= wrote;
    const auto count = std::ranges::count_if(
        config.members, [&](const member_config& m) { return has(known, m, wrote); });
    return count >= concern.w;
}

result<void> check_satisfiable(const set_config& config, const write_concern& concern)
{
    if (!concern.mode.empty()) {
        if (config.modes.contains(concern.mode))
            return {};
        return refuse(server_code::unknown_repl_write_concern,
                      "No write concern mode named '" + concern.mode +
                          "' found in replica set configuration");
    }
    if (!concern.majority && concern.w > static_cast<std::int64_t>(config.data_members()))
        return refuse(server_code::unsatisfiable_write_concern, "Not enough data-bearing nodes");
    return {};
}

}  // namespace holdfast::lab::mongo
