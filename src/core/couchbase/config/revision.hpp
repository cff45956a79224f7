#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::core::couchbase {

/// The age of a configuration. The epoch counts first: it grows when a cluster is restored after
/// the loss of its quorum, and the revision begins anew. Servers before 7.0 have none; such a
/// configuration is older than any with an epoch.
struct config_revision {
    std::optional<std::int64_t> epoch = {};
    std::int64_t rev = 0;

    friend constexpr auto operator<=>(const config_revision&, const config_revision&) = default;
    friend constexpr bool operator==(const config_revision&, const config_revision&) = default;
};

/// The revision of a configuration without parsing it, for replies and notifications that bring the
/// one already known over and over. Looks at the first and the last few hundred bytes only, where
/// all servers have it. Nothing: the text must be parsed. A text of which parse_config() makes a
/// configuration has the revision that was seen here.
std::optional<config_revision> peek_revision(std::string_view text) noexcept;

}  // namespace holdfast::core::couchbase
