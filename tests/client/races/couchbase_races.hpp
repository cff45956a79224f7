#pragma once
#include "client/races/races.hpp"

#include <cstdint>
#include <vector>

/// Races of the Couchbase client, on the lab in the simulator: many operations, and one thing or
/// another that comes at the same moment. Each operation completes once, by its deadline, and is
/// applied as its outcome says.
namespace holdfast::proof {

/// Cancellations come with replies, deadlines, refusals and the closing of the cluster.
race_report couchbase_cancellations(std::uint64_t seed);

/// Two operations of a new client are cancelled after any number of steps of what they cause, or
/// their deadline comes then, or the cluster is closed, or they were refused before.
race_report couchbase_end_at_every_step(std::uint64_t seed);

/// A circuit breaker opens, tries and closes while late answers come in.
race_report couchbase_breaker_and_success(std::uint64_t seed);

/// The cluster is closed while a thousand requests are in flight.
race_report couchbase_close_in_flight(std::uint64_t seed);

/// The configuration changes while connections are being opened.
race_report couchbase_news_in_bootstrap(std::uint64_t seed);

/// Nodes announce different configurations at once, new ones and old ones.
race_report couchbase_two_configurations(std::uint64_t seed);

/// Connections break while requests are being written.
race_report couchbase_flush_and_cut(std::uint64_t seed);

/// A server that does not prove that it knows the password gets no request.
race_report couchbase_unproven_server(std::uint64_t seed);

/// Collections are dropped and made again under operations.
race_report couchbase_new_collection(std::uint64_t seed);

const std::vector<race>& couchbase_races();

}  // namespace holdfast::proof
