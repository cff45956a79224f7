#include "holdfast/bson/object_id.hpp"

#include "core/bson/hex.hpp"
#include "core/bson/quote.hpp"
#include "holdfast/bson/errc.hpp"

#include <algorithm>

namespace holdfast::bson {

namespace {

constexpr std::size_t object_id_text_size = 24;

}  // namespace

result<object_id> object_id::parse(std::string_view hex)
{
    object_id id;
    if (hex.size() != object_id_text_size || !decode_hex(hex.data(), id.bytes))
        return error{errc::invalid_value,
                     "an ObjectId is 24 hexadecimal digits, found " + quote(hex)};
    return id;
}

std::string object_id::to_string() const
{
    std::string text(object_id_text_size, '\0');
    encode_hex(bytes, text.data());
    return text;
}

std::chrono::sys_seconds object_id::created() const noexcept
{
    std::uint32_t seconds = 0;
    for (std::size_t i = 0; i < 4; ++i)
        seconds = seconds << 8 | bytes[i];
    return std::chrono::sys_seconds{std::chrono::seconds{seconds}};
}

object_id object_id_source::next(std::chrono::sys_seconds now) noexcept
{
    const auto seconds = static_cast<std::uint32_t>(now.time_since_epoch().count());
    object_id id;
    for (std::size_t i = 0; i < 4; ++i)
        id.bytes[i] = static_cast<std::uint8_t>(seconds >> (24 - 8 * i));
    std::ranges::copy(process_, id.bytes.begin() + 4);
    for (std::size_t i = 0; i < 3; ++i)
        id.bytes[9 + i] = static_cast<std::uint8_t>(counter_ >> (16 - 8 * i));
    counter_ = (counter_ + 1) & counter_mask;
    return id;
}

}  // namespace holdfast::bson
