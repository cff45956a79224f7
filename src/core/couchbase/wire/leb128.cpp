#include "core/couchbase/wire/leb128.hpp"

#include <algorithm>

namespace holdfast::core::couchbase {

std::optional<collection_key> split_collection_key(std::span<const std::uint8_t> key) noexcept
{
    std::uint64_t id = 0;
    const std::size_t most = std::min(key.size(), max_collection_prefix);
    for (std::size_t i = 0; i < most; ++i) {
        const std::uint8_t byte = key[i];
        id |= std::uint64_t{byte & 0x7fU} << (7 * i);
        if ((byte & 0x80) != 0)
            continue;
        const bool padded = byte == 0 && i > 0;
        if (padded || id > 0xffff'ffff)
            return std::nullopt;
        return collection_key{static_cast<collection_id>(id), key.subspan(i + 1)};
    }
    return std::nullopt;
}

}  // namespace holdfast::core::couchbase
