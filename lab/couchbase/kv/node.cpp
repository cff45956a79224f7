#include "lab/couchbase/kv/node.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::int32_t scram_iterations = 4096;
constexpr std::size_t scram_salt_size = 16;

}  // namespace

bool user_account::may_open(std::string_view bucket) const
{
    if (without_buckets)
        return false;
    return buckets.empty() || std::ranges::find(buckets, bucket) != buckets.end();
}

result<user_account> make_account(runtime::world& world, std::string_view password)
{
    user_account made;
    for (const scram_mechanism& one : scram_mechanisms) {
        std::vector<std::uint8_t> salt(scram_salt_size);
        world.random(salt);
        auto keys = derive_scram_keys(one.hash, password, std::move(salt), scram_iterations);
        if (!keys)
            return std::move(keys).error();
        made.keys[one.hash] = *std::move(keys);
    }
    return made;
}

bool is_password(const user_account& of, std::string_view password)
{
    const scram_keys& kept = of.keys.at(scram_hash::sha_256);
    const auto made = derive_scram_keys(scram_hash::sha_256, password, kept.salt, kept.iterations);
    return made && made->stored_key == kept.stored_key;
}

vbucket* bucket::find(std::uint16_t id)
{
    const auto found = vbuckets.find(id);
    return found == vbuckets.end() ? nullptr : &found->second;
}

void node::changed(const std::string& name, std::uint16_t of) const
{
    if (on_change)
        on_change(name, of);
}

void node::progressed() const
{
    if (on_progress)
        on_progress();
}

vbucket* bucket::find_active(std::uint16_t id)
{
    const auto found = vbuckets.find(id);
    return found != vbuckets.end() && found->second.current_state() == vbucket::state::active
               ? &found->second
               : nullptr;
}

vbucket* bucket::find_replica(std::uint16_t id)
{
    const auto found = vbuckets.find(id);
    return found != vbuckets.end() && found->second.current_state() == vbucket::state::replica
               ? &found->second
               : nullptr;
}

void adopt_layout(bucket& of, int node, bucket_layout layout,
                  const std::function<std::uint64_t()>& draw_uuid)
{
    using state = vbucket::state;
    of.layout = std::move(layout);
    const vbucket_map& map = of.layout.map;
    for (std::size_t n = 0; n != map.rows.size(); ++n) {
        const auto id = static_cast<std::uint16_t>(n);
        const bool active = map.active(n) == node;
        if (!active && !map.is_replica(n, node)) {
            of.vbuckets.erase(id);
            continue;
        }
        const state wanted = active ? state::active : state::replica;
        const auto [at, made] = of.vbuckets.try_emplace(id, id, 0, wanted);
        if (made)
            at->second = vbucket{id, draw_uuid(), wanted};
        else if (active && at->second.current_state() != state::active)
            at->second.begin_history(draw_uuid());
        at->second.set_state(wanted);
        at->second.set_chain(map.rows[n]);
    }
}

std::uint32_t usual_expiry(const bucket& in, std::uint32_t collection, wall_time now)
{
    const collection_entry* const at = in.collections.find_collection(collection);
    const std::int64_t seconds = at ? at->limits.max_ttl.value_or(0) : 0;
    if (seconds <= 0)
        return 0;
    const auto end = now.time_since_epoch() + std::chrono::seconds{seconds};
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(end).count());
}

bucket* node::find_bucket(std::string_view name)
{
    const auto found = buckets.find(name);
    return found == buckets.end() ? nullptr : &found->second;
}

std::string node::configuration() const
{
    return damaged(configuration_text(members, {id, options.hosts}), damage);
}

std::string node::configuration(const bucket& of) const
{
    return damaged(configuration_text(members, of.layout, {id, options.hosts}), damage);
}

}  // namespace holdfast::lab::couchbase
