#include "lab/couchbase/cluster/fault_rules.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/kv/names.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

struct fault_rules::rule {
    couchbase_fault what;
    std::vector<core::couchbase::kv_opcode> opcodes = {};
    frame_damage damage = frame_damage::none;
    std::int64_t chosen = 0;
    std::int64_t hits = 0;

    bool is_http() const noexcept { return !what.path_prefix.empty(); }
    bool is_on(std::size_t node) const
    {
        return what.nodes.empty() || std::ranges::find(what.nodes, node) != what.nodes.end();
    }
    bool fits(const kv_target& one) const;
    bool fits(const http_target& one) const;
    bool happens(cluster_state& in);
};

namespace {

constexpr std::size_t most_rules = 1000;

error refuse_fault(std::string why)
{
    return error{holdfast::couchbase::errc::invalid_argument, "fault: " + std::move(why)};
}

template <class Fault>
void add_common_effects(Fault& to, const couchbase_fault& from)
{
    to.delay = from.delay;
    to.close_connection = from.close_connection;
    if (from.status)
        to.error_code = *from.status;
    to.cut_reply_at = from.cut_reply_at;
    to.body = from.body;
    to.silent = from.silent;
}

kv_fault kv_effect(const couchbase_fault& from, frame_damage damage)
{
    kv_fault made;
    add_common_effects(made, from);
    made.replies = from.replies;
    made.delay_up_to = from.delay_up_to;
    made.reply_delay = from.reply_delay;
    made.overtaken_by = from.overtaken_by;
    made.foreign_opaque = from.foreign_opaque;
    made.value = from.value;
    made.damage = damage;
    made.stop_reading = from.stop_reading;
    return made;
}

http_fault http_effect(const couchbase_fault& from)
{
    http_fault made;
    add_common_effects(made, from);
    return made;
}

}  // namespace

bool fault_rules::rule::fits(const kv_target& one) const
{
    return (opcodes.empty() || std::ranges::find(opcodes, one.opcode) != opcodes.end()) &&
           (what.bucket.empty() || what.bucket == one.bucket) &&
           (what.connection == 0 || what.connection == one.connection) &&
           (one.document.starts_with(what.key_prefix) || one.key.starts_with(what.key_prefix));
}

bool fault_rules::rule::fits(const http_target& one) const
{
    return one.path.starts_with(what.path_prefix) &&
           (what.method.empty() || what.method == one.method);
}

bool fault_rules::rule::happens(cluster_state& in)
{
    if (chosen++ < what.skip || (what.times && hits >= *what.times))
        return false;
    if (what.probability < 1 && in.manager().chance() >= what.probability)
        return false;
    ++hits;
    return true;
}

result<void> fault_rules::set(const std::string& name, const couchbase_fault& what)
{
    auto made = std::make_shared<rule>();
    made->what = what;
    for (const std::string& one : what.operations) {
        const auto opcode = opcode_named(one);
        if (!opcode)
            return refuse_fault("there is no operation '" + one + "'");
        made->opcodes.push_back(*opcode);
    }
    if (!what.damage.empty()) {
        const auto damage = frame_damage_named(what.damage);
        if (!damage)
            return refuse_fault("there is no damage '" + what.damage + "'");
        made->damage = *damage;
    }
    if (name.empty() || (rules_.size() == most_rules && !rules_.contains(name)))
        return refuse_fault("it needs a name, and there can be 1000 at most");
    remove(name);
    rules_[name] = made;
    for (const auto& one : all_.members)
        install(name, made, *one);
    return {};
}

void fault_rules::install(const std::string& name, const std::shared_ptr<rule>& made,
                          cluster_member& on)
{
    if (!made->is_on(static_cast<std::size_t>(on.entry.id)))
        return;
    const auto chooses = [made, in = &all_](const auto& one) {
        return made->fits(one) && made->happens(*in);
    };
    if (made->is_http()) {
        on.http_faults.set(name, {http_effect(made->what), chooses, activation::always()});
        return;
    }
    on.data->faults.set(name, {kv_effect(made->what, made->damage), chooses, activation::always()});
}

void fault_rules::install_all(cluster_member& on)
{
    for (const auto& [name, made] : rules_)
        install(name, made, on);
}

bool fault_rules::remove(std::string_view name)
{
    const auto found = rules_.find(name);
    if (found == rules_.end())
        return false;
    for (const auto& one : all_.members) {
        one->data->faults.remove(name);
        one->http_faults.remove(name);
    }
    rules_.erase(found);
    return true;
}

void fault_rules::clear()
{
    while (!rules_.empty())
        remove(rules_.begin()->first);
}

std::int64_t fault_rules::hits(std::string_view name) const
{
    const auto found = rules_.find(name);
    return found == rules_.end() ? 0 : found->second->hits;
}

std::vector<std::string> fault_rules::names() const
{
    std::vector<std::string> all;
    for (const auto& [name, made] : rules_)
        all.push_back(name);
    return all;
}

}  // namespace holdfast::lab::couchbase
