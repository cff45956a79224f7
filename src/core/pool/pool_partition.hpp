#pragma once
#include "holdfast/id.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace holdfast::core {

/// One of several servers behind the address of a pool, as MongoDB's service behind a load
/// balancer. Opaque: the protocol chooses the bytes.
using pool_partition = strong_id<struct pool_partition_tag, std::array<std::uint8_t, 12>>;

/// Which connections are stale: those of an older generation than that of their partition, or of
/// the pool if they have none.
class pool_generations {
public:
    std::uint32_t current(const std::optional<pool_partition>& of = {}) const noexcept
    {
        if (!of)
            return pool_;
        const auto at = partitions_.find(*of);
        return at == partitions_.end() ? 0 : at->second;
    }
    bool is_stale(std::uint32_t generation, const std::optional<pool_partition>& of) const noexcept
    {
        return generation != current(of);
    }
    void advance(const std::optional<pool_partition>& of)
    {
        if (of)
            ++partitions_[*of];
        else
            ++pool_;
    }

private:
    std::uint32_t pool_ = 0;
    std::map<pool_partition, std::uint32_t> partitions_;
};

}  // namespace holdfast::core
