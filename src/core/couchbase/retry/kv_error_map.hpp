#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// The server's description of one of its statuses. Attributes that we do not know are ignored, as
/// version 2 of the format demands and version 1 does not forbid.
struct error_map_entry {
    std::string name = {};
    std::string description = {};
    bool retry_now = false;
    bool retry_later = false;
    bool fetch_config = false;            // our view of the cluster is old
    bool connection_invalidated = false;  // the connection must not be used any more

    bool indicates_retry() const noexcept { return retry_now || retry_later; }
};

/// The server's own list of its statuses, for those that are newer than this library. Its "retry"
/// sections (interval, ceil, max-duration) are not even read: how long to wait is for the strategy
/// to say, and there always is one.
class kv_error_map {
public:
    static constexpr int newest_version = 2;

    /// Fails with errc::decoding_failure, and says where, if this is not an error map. All or
    /// nothing: a map with one unreadable entry is refused as a whole.
    static result<kv_error_map> parse(std::string_view text);

    int version() const noexcept { return version_; }
    std::int64_t revision() const noexcept { return revision_; }
    std::size_t size() const noexcept { return entries_.size(); }
    const error_map_entry* find(kv_status status) const;

private:
    int version_ = 0;
    std::int64_t revision_ = 0;
    std::map<kv_status, error_map_entry> entries_;
};

/// Servers of different age know different statuses: the higher revision counts, whatever the
/// version.
const kv_error_map& newer_of(const kv_error_map& a, const kv_error_map& b) noexcept;

}  // namespace holdfast::core::couchbase
