#include "lab/couchbase/cluster/node_index.hpp"

namespace holdfast::lab::couchbase {

node_index::node_index(cluster& of, std::size_t number, runtime::world& in)
    : on_{of}, number_{number}, world_{in}
{
}

const vbucket* node_index::source_of(const bucket_layout& in, std::uint16_t id) const
{
    const int number = in.map.active(id);
    if (number == no_node || !on_.is_running(static_cast<std::size_t>(number)))
        return nullptr;
    node& on = on_.at(static_cast<std::size_t>(number));
    bucket* const found = on.frozen ? nullptr : on.find_bucket(in.name);
    return found ? found->find_active(id) : nullptr;
}

node_index::entry* node_index::find(std::string_view bucket)
{
    const bucket_layout* const layout = on_.layout(bucket);
    if (!layout) {
        if (const auto old = entries_.find(bucket); old != entries_.end())
            entries_.erase(old);
        return nullptr;
    }
    entry& at = entries_[layout->name];
    if (at.uuid != layout->uuid)
        at = {layout->uuid, 0, {}};
    return &at;
}

const index_copy* node_index::as_it_was(std::string_view bucket)
{
    const entry* const at = find(bucket);
    return at ? &at->copy : nullptr;
}

const index_copy* node_index::of(std::string_view bucket)
{
    entry* const at = find(bucket);
    const node_options& options = on_.at(number_).options;
    if (!at || options.index_held)
        return at ? &at->copy : nullptr;
    const manifest& collections = *on_.admin().collections(bucket);
    if (at->manifest_uid != collections.uid())
        at->copy.keep_collections([&](std::uint32_t id) { return collections.has_collection(id); });
    at->manifest_uid = collections.uid();
    const bucket_layout& layout = *on_.layout(bucket);
    const wall_time until = world_.wall_now() - options.index_lag;
    for (std::size_t id = 0; id != layout.map.rows.size(); ++id) {
        const vbucket* const source = source_of(layout, static_cast<std::uint16_t>(id));
        if (source)
            at->copy.follow(*source, options.index_lag.count() == 0 ? wall_time::max() : until);
    }
    return &at->copy;
}

index_positions node_index::all_changes(std::string_view bucket) const
{
    index_positions made;
    const bucket_layout* const layout = on_.layout(bucket);
    for (std::size_t n = 0; layout && n != layout->map.rows.size(); ++n) {
        const auto id = static_cast<std::uint16_t>(n);
        const vbucket* const source = source_of(*layout, id);
        if (source && source->high_seqno() != 0)
            made[id] = {source->uuid(), source->high_seqno()};
    }
    return made;
}

bool node_index::has(std::string_view bucket, const index_positions& wanted)
{
    const index_copy* const copy = of(bucket);
    const bucket_layout* const layout = on_.layout(bucket);
    for (const auto& [id, position] : wanted) {
        if (position.seqno == 0)
            continue;
        if (!copy || id >= layout->map.rows.size())
            return false;
        const index_position have = copy->at(id);
        if (have.seqno < position.seqno)
            return false;
        if (have.uuid == position.uuid || position.uuid == 0)
            continue;
        const vbucket* const source = source_of(*layout, id);
        const auto shared = source ? source->shared_until(position.uuid) : std::nullopt;
        if (!shared || *shared < position.seqno || have.uuid != source->uuid())
            return false;
    }
    return true;
}

std::optional<std::uint16_t> node_index::mismatched(std::string_view bucket,
                                                    const index_positions& wanted) const
{
    const bucket_layout* const layout = on_.layout(bucket);
    for (const auto& [id, position] : wanted) {
        if (!layout || id >= layout->map.rows.size())
            return id;
        const vbucket* const source = source_of(*layout, id);
        const auto shared = source ? source->shared_until(position.uuid) : std::nullopt;
        if (source && position.seqno != 0 && position.uuid != 0 &&
            (!shared || (position.uuid != source->uuid() && *shared < position.seqno)))
            return id;
    }
    return std::nullopt;
}

}  // namespace holdfast::lab::couchbase
