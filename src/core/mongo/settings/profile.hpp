#pragma once
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast::core::mongo {

enum class profile_name : std::uint8_t { as_specified, upstream_2026_07 };

/// All constants and switches of retry, backpressure and error handling on which the specifications
/// have moved since ours were written. One value, two presets, so that no rule is half old and half
/// new; the URI option `resilienceProfile` selects.
struct resilience_profile {
    profile_name name = profile_name::as_specified;

    /// Retries of one operation once the server has reported overload.
    std::uint32_t max_overload_retries = 5;
    duration base_backoff = std::chrono::milliseconds{100};
    duration max_backoff = std::chrono::seconds{10};
    /// How often the base is doubled before the first retry; each further retry doubles it again.
    std::uint32_t first_doublings = 0;
    /// Whether a `baseBackoffMS` in the error replaces the base.
    bool server_sets_base = false;
    /// Whether `adaptiveRetries` may switch on a token bucket.
    bool has_token_bucket = true;
    /// Whether every retry avoids the server just used, or only the cases named in
    /// `avoids_failed_server` (core/mongo/retry).
    bool always_retargets = true;
    /// Whether a network error while connecting is taken for a sign of overload: labelled as such,
    /// the server stays known and its pool is not cleared. Not what overload cannot cause: a name
    /// or a certificate that is wrong, a hello that is refused.
    bool connect_errors_are_overload = false;
    /// Whether keys for MONGODB-AWS come from the environment only, never from a connection string.
    bool refuses_aws_keys = false;
    /// The value of `backpressure` in the handshake: true, or the string "2".
    bool backpressure_as_string = false;
    /// Whether also the first hello of a connection is an OP_MSG, which servers before 3.6 do not
    /// know.
    bool hello_over_op_msg = false;
    /// Whether writes in a causally consistent session carry afterClusterTime, as its reads do.
    bool after_cluster_time_on_writes = false;

    friend constexpr bool operator==(const resilience_profile&,
                                     const resilience_profile&) = default;
};

inline constexpr resilience_profile as_specified{};

inline constexpr resilience_profile upstream_2026_07{
    .name = profile_name::upstream_2026_07,
    .max_overload_retries = 2,
    .first_doublings = 1,
    .server_sets_base = true,
    .has_token_bucket = false,
    .always_retargets = false,
    .connect_errors_are_overload = true,
    .refuses_aws_keys = true,
    .backpressure_as_string = true,
    .hello_over_op_msg = true,
    .after_cluster_time_on_writes = true,
};

constexpr std::string_view name_of(profile_name name) noexcept
{
    return name == profile_name::as_specified ? "as_specified" : "upstream_2026_07";
}

}  // namespace holdfast::core::mongo
