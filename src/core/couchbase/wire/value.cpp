#include "core/couchbase/wire/value.hpp"

#include "core/compress/compressors.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <cstring>
#include <string>

namespace holdfast::core::couchbase {

namespace {

error bad_compression(std::string_view what)
{
    return error{holdfast::couchbase::errc::decoding_failure,
                 "compressed value: " + std::string{what}};
}

/// The shortest way that snappy has to say something is a copy of 64 bytes in 3.
bool can_hold(std::size_t compressed, std::size_t size) noexcept
{
    return size <= compressed * 64 / 3;
}

}  // namespace

bool append_compressed(bson::byte_buffer& out, std::span<const std::uint8_t> value)
{
    const std::size_t start = out.size();
    if (value.size() >= min_compressed_size && value.size() <= max_value_size) {
        const std::size_t bound = compressed_bound(compressor::snappy, value.size());
        std::uint8_t* const to = out.grow(bound);
        const auto size = compress_into(compressor::snappy, value, {to, bound});
        if (size && *size * 100 <= value.size() * max_compressed_percent) {
            out.truncate(start + *size);
            return true;
        }
        out.truncate(start);
    }
    if (!value.empty())
        std::memcpy(out.grow(value.size()), value.data(), value.size());
    return false;
}

result<std::span<const std::uint8_t>> decompress_value(std::span<const std::uint8_t> compressed,
                                                       bson::byte_buffer& out, std::size_t limit)
{
    const auto size = snappy_size(compressed);
    if (!size)
        return bad_compression("it does not begin with a size");
    if (*size > limit)
        return bad_compression("it claims " + std::to_string(*size) +
                               " bytes, which is beyond the limit of " + std::to_string(limit));
    if (!can_hold(compressed.size(), *size))
        return bad_compression("it claims " + std::to_string(*size) + " bytes, more than " +
                               std::to_string(compressed.size()) + " can hold");
    if (*size == 0 && compressed.size() == 1)
        return std::span<const std::uint8_t>{};
    const std::size_t start = out.size();
    std::uint8_t* const to = out.grow(*size);
    if (*size == 0 || !decompress_into(compressor::snappy, compressed, {to, *size})) {
        out.truncate(start);
        return bad_compression("it is damaged");
    }
    return std::span<const std::uint8_t>{to, *size};
}

}  // namespace holdfast::core::couchbase
