#pragma once
#include "core/mongo/select/suitable.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::core::mongo {

/// A topology and what can be said in advance about choosing from it, so that an ordinary operation
/// looks at two servers however many there are. Made once for each change of the topology.
class selection_snapshot {
public:
    selection_snapshot(topology_ptr topology, selection_settings settings);

    const topology_ptr& topology() const noexcept { return topology_; }
    const selection_settings& settings() const noexcept { return settings_; }

    /// Positions in topology()->servers of those within the latency window that may run a write.
    std::span<const std::uint32_t> for_writes() const noexcept { return writes_; }

    /// The same for reads with this mode, without tags and staleness.
    std::span<const std::uint32_t> for_reads(read_mode mode) const noexcept
    {
        return reads_[static_cast<std::size_t>(mode)];
    }

    /// The same for any request. Walks the topology, unless the request is one of the two above.
    result<std::vector<std::uint32_t>> candidates(const selection_request& request) const;

    /// Whether the answer to the request is ready, and what it is.
    const std::vector<std::uint32_t>* prepared(const selection_request& request) const noexcept;

private:
    std::vector<std::uint32_t> positions(std::span<const server_ptr> servers) const;

    topology_ptr topology_;
    selection_settings settings_;
    std::vector<std::uint32_t> writes_;
    std::array<std::vector<std::uint32_t>, 5> reads_;
};

/// The less busy of two candidates drawn by `chance`, which is any 64 bits. `operations` gives the
/// number of operations that a server (by its position) is running. There must be a candidate.
template <class Operations>
std::uint32_t choose(std::span<const std::uint32_t> candidates, std::uint64_t chance,
                     Operations&& operations)
{
    const auto pick = [](std::uint64_t bits, std::size_t count) {
        return static_cast<std::size_t>((bits & 0xFFFFFFFF) * count >> 32);
    };
    if (candidates.size() == 1)
        return candidates[0];
    const std::size_t first = pick(chance, candidates.size());
    std::size_t second = pick(chance >> 32, candidates.size() - 1);
    second += second >= first ? 1 : 0;  // any but the first, all equally likely
    return operations(candidates[second]) < operations(candidates[first]) ? candidates[second]
                                                                          : candidates[first];
}

}  // namespace holdfast::core::mongo
