#pragma once
#include "core/couchbase/wire/frame.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "lab/couchbase/kv/exchange.hpp"
#include "lab/couchbase/kv/node.hpp"

namespace holdfast::lab::couchbase {

/// Carries out a message of another node; what there is to answer goes to `out`. False if it is
/// none: the connection is to be closed. A copy takes changes only from the node that is active for
/// it, as the cluster has decided; so one that was failed over and does not know cannot reach a
/// majority.
bool take_peer_message(node& on, kv_client& client, const core::couchbase::frame& from,
                       bson::byte_buffer& out);

/// Sends again what every copy has: after a disk that was stalled goes on.
void acknowledge_again(node& on, const kv_client& client, bson::byte_buffer& out);

}  // namespace holdfast::lab::couchbase
