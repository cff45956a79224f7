#pragma once
#include "core/couchbase/wire/frame.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "lab/couchbase/data/vbucket.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What nodes send each other on the key-value port, after a hello with the cluster's key: requests
/// with the numbers that DCP has for such messages, each with the vbucket in its header and the
/// sender's number for the bucket as opaque. Their contents are the lab's own.
namespace holdfast::lab::couchbase {

using core::couchbase::kv_opcode;

inline constexpr kv_opcode peer_bucket = kv_opcode{0x50};  // a number for a bucket
inline constexpr kv_opcode peer_ask_copy = kv_opcode{0x53};  // how far is your copy?
inline constexpr kv_opcode peer_refuse = kv_opcode{0x52};  // there is none, or not from you
inline constexpr kv_opcode peer_copy_state = kv_opcode{0x54};  // the answer
inline constexpr kv_opcode peer_begin = kv_opcode{0x55};  // of a stream
inline constexpr kv_opcode peer_snapshot_end = kv_opcode{0x56};
inline constexpr kv_opcode peer_mutation = kv_opcode{0x57};
inline constexpr kv_opcode peer_prepare = kv_opcode{0x60};
inline constexpr kv_opcode peer_ack = kv_opcode{0x61};
inline constexpr kv_opcode peer_abort = kv_opcode{0x63};

/// The key of the hello of a node: "lab-peer NUMBER KEY".
std::string peer_hello(int node, std::string_view cluster_key);
std::optional<int> read_peer_hello(std::string_view text, std::string_view cluster_key);

/// Where a message belongs.
struct peer_place {
    std::uint32_t bucket = 0;
    std::uint16_t vbucket = 0;

    friend auto operator<=>(const peer_place&, const peer_place&) = default;
};

void write_peer_bucket(bson::byte_buffer& out, std::uint32_t number, std::string_view name,
                       std::string_view uuid);
/// Of peer_ask_copy and peer_refuse.
void write_peer_plain(bson::byte_buffer& out, kv_opcode what, peer_place at);

struct copy_state {
    std::uint64_t uuid = 0;
    std::uint64_t high = 0;  // what it may have beyond its last snapshot, too
    std::uint64_t consistent = 0;
};
void write_copy_state(bson::byte_buffer& out, peer_place at, const copy_state& state);
std::optional<copy_state> read_copy_state(const core::couchbase::frame& from);

/// `anew`: what the copy has is of another history, and all follows from the beginning.
void write_peer_begin(bson::byte_buffer& out, peer_place at, bool anew,
                      const std::vector<failover_entry>& log);
struct stream_begin {
    bool anew = false;
    std::vector<failover_entry> log = {};
};
std::optional<stream_begin> read_peer_begin(const core::couchbase::frame& from);

void write_change(bson::byte_buffer& out, peer_place at, const change& what);
std::optional<change> read_change(const core::couchbase::frame& from);

/// Of peer_snapshot_end and peer_ack: received and persisted.
struct peer_numbers {
    std::uint64_t seqno = 0;
    std::uint64_t persisted = 0;
};
void write_peer_numbers(bson::byte_buffer& out, kv_opcode what, peer_place at,
                        const peer_numbers& numbers);
std::optional<peer_numbers> read_peer_numbers(const core::couchbase::frame& from);

}  // namespace holdfast::lab::couchbase
