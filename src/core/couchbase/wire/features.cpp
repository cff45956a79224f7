#include "core/couchbase/wire/features.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <string>

namespace holdfast::core::couchbase {

result<feature_set> parse_features(std::span<const std::uint8_t> value)
{
    if (value.size() % 2 != 0)
        return error{holdfast::couchbase::errc::decoding_failure,
                     "a list of features has 2 bytes for each, here are " +
                         std::to_string(value.size())};
    feature_set found;
    for (std::size_t at = 0; at < value.size(); at += 2)
        found.add(static_cast<kv_feature>(load_big<std::uint16_t>(value.data() + at)));
    return found;
}

void write_features(bson::byte_buffer& out, std::span<const kv_feature> features)
{
    std::uint8_t* to = out.grow(2 * features.size());
    for (const kv_feature feature : features)
        to = store_big(to, static_cast<std::uint16_t>(feature));
}

}  // namespace holdfast::core::couchbase
