#pragma once
#include "core/mongo/sdam/event.hpp"

#include <boost/json.hpp>

namespace holdfast::spec {

/// Descriptions and events under the names that official files use. What is not known is null.
boost::json::object to_text(const core::mongo::server_description& s);
boost::json::object to_text(const core::mongo::topology_description& t);
boost::json::object to_text(const core::mongo::sdam_event& e);

/// Whether what was found says all that is expected, and perhaps more: fields that only it has do
/// not matter, lists must be of the same length, and 42 stands for any value.
bool says(const boost::json::value& expected, const boost::json::value& found);

}  // namespace holdfast::spec
