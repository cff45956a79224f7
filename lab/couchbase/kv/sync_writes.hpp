#pragma once
#include "lab/couchbase/kv/node.hpp"

#include <cstdint>
#include <string_view>

/// Durable writes: prepared on the active copy, acknowledged by others, then committed or aborted.
namespace holdfast::lab::couchbase {

/// A replica has come that far. What a majority has is committed.
void acknowledge(node& on, bucket& in, std::uint16_t vbucket, int replica, replica_ack ack);
/// Commits what a majority of the copies has, on an active vbucket.
void settle_sync_writes(node& on, bucket& in, vbucket& at);
/// Ends what is over its time, as ambiguous. Gives the next deadline; runtime::never without one.
time_point end_late_sync_writes(node& on);
/// The vbucket is no longer active here: its clients cannot know what becomes of their writes.
void abandon_sync_writes(node& on, std::string_view bucket, std::uint16_t vbucket);

}  // namespace holdfast::lab::couchbase
