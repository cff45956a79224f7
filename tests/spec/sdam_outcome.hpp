#pragma once
#include "core/mongo/sdam/event.hpp"
#include "sdam_client.hpp"

#include <boost/json.hpp>

#include <span>

namespace holdfast::spec {

/// Throws case_failure unless the client is as the file's "outcome" says, in every field that is
/// stated there; null states that there is no such value.
void check_outcome(const boost::json::object& expected, const sdam_client& client);

/// The same for the list of events, which must be complete and in order.
void check_events(const boost::json::array& expected,
                  std::span<const core::mongo::sdam_event> found);

}  // namespace holdfast::spec
