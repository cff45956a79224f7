#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/node/node.hpp"

namespace holdfast::lab::mongo {

/// What a node asks of every command before its handler sees it, in this order. Pure questions,
/// asked anew each time a waiting command is looked at.
result<void> check_api(const command& known, const request& what);
result<void> check_login(const node& on, const command& known, const request& what);
result<void> check_role(const node& on, const command& known, const request& what);
result<void> check_transaction_number(const node& on, const command& known, const request& what);
result<void> check_concerns(const node& on, const command& known, const request& what);

/// Whether only what a majority has may be read.
bool reads_committed(const request& what) noexcept;

/// Whether the data is as new as the read concern demands: done, or wait for news. A primary
/// catches up by writing a note. Fills in at_cluster_time for a snapshot that names none.
result<progress> check_read_time(node& on, request& what);

/// Gossip: refused if it is absurdly far in the future.
result<void> take_cluster_time(node& on, const request& what);

}  // namespace holdfast::lab::mongo
