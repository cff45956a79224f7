#include "core/couchbase/wire/frame_info.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/server_duration.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <cassert>
#include <string>

namespace holdfast::core::couchbase {

namespace {

/// A half byte of 15 means that the number is 15 and what the next byte adds.
constexpr unsigned escape = 15;
constexpr std::size_t largest_escaped = escape + 255;

std::optional<std::uint16_t> two_bytes(std::span<const std::uint8_t> content) noexcept
{
    if (content.size() != 2)
        return std::nullopt;
    return load_big<std::uint16_t>(content.data());
}

std::array<std::uint8_t, 2> in_two_bytes(std::uint16_t number) noexcept
{
    std::array<std::uint8_t, 2> bytes;
    store_big(bytes.data(), number);
    return bytes;
}

error bad_framing(std::string_view what)
{
    return error{holdfast::couchbase::errc::decoding_failure,
                 "framing extras of a KV frame: " + std::string{what}};
}

/// Level, and perhaps a timeout, of which the two ends of the range are reserved.
bool read_durability(std::span<const std::uint8_t> content, request_infos& into) noexcept
{
    if (content.size() != 1 && content.size() != 3)
        return false;
    if (content[0] < static_cast<unsigned>(kv_durability::majority) ||
        content[0] > static_cast<unsigned>(kv_durability::persist_to_majority))
        return false;
    into.durability = static_cast<kv_durability>(content[0]);
    if (content.size() == 1)
        return true;
    const auto timeout = load_big<std::uint16_t>(content.data() + 1);
    into.durability_timeout_ms = timeout;
    return timeout != 0 && timeout != 0xffff;
}

kv_status read_request_info(const frame_info& info, request_infos& into) noexcept
{
    const auto valid_if = [](bool ok) { return ok ? kv_status::success : kv_status::invalid; };
    switch (static_cast<request_info_id>(info.id)) {
    case request_info_id::barrier:
        into.barrier = true;
        return valid_if(info.content.empty());
    case request_info_id::durability:
        return valid_if(read_durability(info.content, into));
    case request_info_id::preserve_expiry:
        into.preserve_expiry = true;
        return valid_if(info.content.empty());
    case request_info_id::impersonate_user:
        into.impersonate_user = {reinterpret_cast<const char*>(info.content.data()),
                                 info.content.size()};
        return valid_if(!info.content.empty());
    case request_info_id::dcp_stream_id:
    case request_info_id::extra_privilege:
        break;
    }
    return kv_status::unknown_frame_info;
}

}  // namespace

frame_info_bytes::frame_info_bytes(const request_infos& infos) noexcept
{
    const auto add_info = [this](request_info_id id, std::span<const std::uint8_t> content) {
        [[maybe_unused]] const bool fits = add(static_cast<std::uint16_t>(id), content);
        assert(fits);
    };
    if (infos.barrier)
        add_info(request_info_id::barrier, {});
    if (infos.durability != kv_durability::none) {
        std::array<std::uint8_t, 3> content;
        content[0] = static_cast<std::uint8_t>(infos.durability);
        store_big(content.data() + 1, infos.durability_timeout_ms.value_or(0));
        add_info(request_info_id::durability,
                 std::span{content}.first(infos.durability_timeout_ms ? 3 : 1));
    }
    if (infos.preserve_expiry)
        add_info(request_info_id::preserve_expiry, {});
    if (!infos.impersonate_user.empty())
        add_info(request_info_id::impersonate_user,
                 {reinterpret_cast<const std::uint8_t*>(infos.impersonate_user.data()),
                  infos.impersonate_user.size()});
}

frame_info_bytes::frame_info_bytes(const response_infos& infos) noexcept
{
    const auto add_number = [this](response_info_id id, std::uint16_t number) {
        add(static_cast<std::uint16_t>(id), in_two_bytes(number));
    };
    if (infos.server_duration)
        add_number(response_info_id::server_duration,
                   encode_server_duration(*infos.server_duration));
    if (infos.read_units)
        add_number(response_info_id::read_units, *infos.read_units);
    if (infos.write_units)
        add_number(response_info_id::write_units, *infos.write_units);
    if (infos.throttle_duration)
        add_number(response_info_id::throttle_duration,
                   encode_server_duration(*infos.throttle_duration));
}

bool frame_info_bytes::add(std::uint16_t id, std::span<const std::uint8_t> content) noexcept
{
    const bool long_id = id >= escape;
    const bool long_size = content.size() >= escape;
    if (id > largest_escaped || content.size() > largest_escaped ||
        1 + long_id + long_size + content.size() > capacity - size_)
        return false;
    const auto half = [](std::size_t number) { return std::min<std::size_t>(number, escape); };
    bytes_[size_++] = static_cast<std::uint8_t>(half(id) << 4 | half(content.size()));
    if (long_id)
        bytes_[size_++] = static_cast<std::uint8_t>(id - escape);
    if (long_size)
        bytes_[size_++] = static_cast<std::uint8_t>(content.size() - escape);
    std::ranges::copy(content, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += content.size();
    return true;
}

std::optional<frame_info> take_frame_info(std::span<const std::uint8_t>& framing) noexcept
{
    big_endian_reader reader{framing};
    const auto first = reader.take<std::uint8_t>();
    if (!first)
        return std::nullopt;
    unsigned id = *first >> 4;
    unsigned size = *first & 0x0f;
    for (unsigned* const half : {&id, &size}) {
        if (*half != escape)
            continue;
        const auto more = reader.take<std::uint8_t>();
        if (!more)
            return std::nullopt;
        *half += *more;
    }
    const auto content = reader.take_bytes(size);
    if (!content)
        return std::nullopt;
    framing = reader.rest();
    return frame_info{static_cast<std::uint16_t>(id), *content};
}

result<response_infos> parse_response_infos(std::span<const std::uint8_t> framing)
{
    response_infos found;
    while (!framing.empty()) {
        const auto info = take_frame_info(framing);
        if (!info)
            return bad_framing("the last entry is cut off");
        const auto id = static_cast<response_info_id>(info->id);
        if (id > response_info_id::throttle_duration)
            continue;
        const auto number = two_bytes(info->content);
        if (!number)
            return bad_framing("entry " + std::to_string(info->id) +
                               " must have two bytes, and has " +
                               std::to_string(info->content.size()));
        switch (id) {
        case response_info_id::server_duration:
            found.server_duration = decode_server_duration(*number);
            break;
        case response_info_id::read_units:
            found.read_units = *number;
            break;
        case response_info_id::write_units:
            found.write_units = *number;
            break;
        case response_info_id::throttle_duration:
            found.throttle_duration = decode_server_duration(*number);
            break;
        }
    }
    return found;
}

read_request_infos parse_request_infos(std::span<const std::uint8_t> framing) noexcept
{
    read_request_infos read;
    while (!framing.empty() && read.status == kv_status::success) {
        const auto info = take_frame_info(framing);
        read.status = info ? read_request_info(*info, read.infos) : kv_status::invalid;
    }
    return read;
}

}  // namespace holdfast::core::couchbase
