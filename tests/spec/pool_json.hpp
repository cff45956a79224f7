#pragma once
#include "core/pool/pool_event.hpp"

#include <boost/json.hpp>

namespace holdfast::spec {

/// A pool's event under the names that official files use. The pool knows neither its address nor
/// the options as users write them; as in the client, the caller adds them.
boost::json::object to_text(const core::pool_event& e, const boost::json::object& options);

}  // namespace holdfast::spec
