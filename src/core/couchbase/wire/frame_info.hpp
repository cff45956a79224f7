#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/error.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::couchbase {

// Framing extras: what a frame carries beside its command, each with a number and a length.

enum class request_info_id : std::uint16_t {
    barrier = 0,
    durability = 1,
    dcp_stream_id = 2,
    impersonate_user = 4,
    preserve_expiry = 5,
    extra_privilege = 6,
};

enum class response_info_id : std::uint16_t {
    server_duration = 0,
    read_units = 1,
    write_units = 2,
    throttle_duration = 3,
};

enum class kv_durability : std::uint8_t {
    none = 0,
    majority = 1,
    majority_and_persist_to_active = 2,
    persist_to_majority = 3,
};

/// What a request may ask for beside its command. Only what is set is sent.
struct request_infos {
    kv_durability durability = kv_durability::none;
    /// The server's own limit for a durable write, in milliseconds: 1 to 65,534, or none for the
    /// server's default.
    std::optional<std::uint16_t> durability_timeout_ms = {};
    bool preserve_expiry = false;
    bool barrier = false;  // run alone, behind all that was sent before
    std::string_view impersonate_user = {};  // at most max_impersonated_user bytes

    constexpr bool empty() const noexcept
    {
        return durability == kv_durability::none && !preserve_expiry && !barrier &&
               impersonate_user.empty();
    }
    friend bool operator==(const request_infos&, const request_infos&) = default;
};

inline constexpr std::size_t max_impersonated_user = 200;

/// What a reply may say beside its answer.
struct response_infos {
    std::optional<std::chrono::microseconds> server_duration = {};
    std::optional<std::uint16_t> read_units = {};
    std::optional<std::uint16_t> write_units = {};
    std::optional<std::chrono::microseconds> throttle_duration = {};

    constexpr bool empty() const noexcept
    {
        return !server_duration && !read_units && !write_units && !throttle_duration;
    }
    friend bool operator==(const response_infos&, const response_infos&) = default;
};

/// Framing extras as they are sent, on the stack.
class frame_info_bytes {
public:
    /// The field that says how long they are has one byte.
    static constexpr std::size_t capacity = 255;

    constexpr frame_info_bytes() = default;
    explicit frame_info_bytes(const request_infos& infos) noexcept;
    explicit frame_info_bytes(const response_infos& infos) noexcept;

    /// One of any number, as a lab may want to send it. False, and nothing added, if it does
    /// not fit.
    bool add(std::uint16_t id, std::span<const std::uint8_t> content) noexcept;

    std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.data(), size_}; }

private:
    std::array<std::uint8_t, capacity> bytes_;  // only the first `size_` have values
    std::size_t size_ = 0;
};

struct frame_info {
    std::uint16_t id = 0;
    std::span<const std::uint8_t> content = {};
};

/// Takes the first one off `framing`. Nothing if there is none, or only the beginning of one.
std::optional<frame_info> take_frame_info(std::span<const std::uint8_t>& framing) noexcept;

/// What a client reads of a reply. Numbers that are new to this library are skipped; a length that
/// does not fit is errc::decoding_failure.
result<response_infos> parse_response_infos(std::span<const std::uint8_t> framing);

/// What a server reads of a request, and what it answers to it: success, invalid, or
/// unknown_frame_info. The name of a user points into `framing`.
struct read_request_infos {
    request_infos infos = {};
    kv_status status = kv_status::success;
};
read_request_infos parse_request_infos(std::span<const std::uint8_t> framing) noexcept;

}  // namespace holdfast::core::couchbase
