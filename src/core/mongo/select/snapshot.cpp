#include "core/mongo/select/snapshot.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {

selection_snapshot::selection_snapshot(topology_ptr topology, selection_settings settings)
    : topology_{std::move(topology)}, settings_{std::move(settings)}
{
    // A user's selector wants to be asked each time, so nothing is known in advance.
    if (settings_.selector)
        return;
    const auto prepare = [&](const selection_request& request) {
        const auto found = suitable_servers(*topology_, request, settings_);
        return found ? positions(in_latency_window(*found, settings_.local_threshold))
                     : std::vector<std::uint32_t>{};
    };
    writes_ = prepare({.kind = operation_kind::write});
    for (std::size_t mode = 0; mode < reads_.size(); ++mode)
        reads_[mode] = prepare(
            {.kind = operation_kind::read, .preference = {.mode = static_cast<read_mode>(mode)}});
}

std::vector<std::uint32_t> selection_snapshot::positions(std::span<const server_ptr> found) const
{
    std::vector<server_ptr> sorted(found.begin(), found.end());
    std::ranges::sort(sorted);  // by pointer: only to find them again, the result has its own order
    std::vector<std::uint32_t> at;
    at.reserve(found.size());
    for (std::uint32_t i = 0; i < topology_->servers.size(); ++i) {
        if (std::ranges::binary_search(sorted, topology_->servers[i]))
            at.push_back(i);
    }
    return at;
}

const std::vector<std::uint32_t>* selection_snapshot::prepared(
    const selection_request& request) const noexcept
{
    if (settings_.selector || request.writes_output || request.only != nullptr ||
        !request.deprioritised.empty() || !topology_->compatible())
        return nullptr;
    if (request.kind == operation_kind::write)
        return &writes_;
    const read_preference& wanted = request.preference;
    if (wanted.max_staleness || !wanted.tag_sets.empty())
        return nullptr;
    return &reads_[static_cast<std::size_t>(wanted.mode)];
}

result<std::vector<std::uint32_t>> selection_snapshot::candidates(
    const selection_request& request) const
{
    if (const auto* ready = prepared(request))
        return *ready;
    auto found = suitable_servers(*topology_, request, settings_);
    if (!found)
        return std::move(found).error();
    return positions(in_latency_window(*found, settings_.local_threshold));
}

}  // namespace holdfast::core::mongo
