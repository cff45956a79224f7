#pragma once
#include "holdfast/error.hpp"
#include "runtime/world.hpp"

#include <string_view>

namespace holdfast::lab::mongo {

/// "localhost:27017", "[::1]:27017"; without a port it is 27017.
result<runtime::destination> read_address(std::string_view text);

}  // namespace holdfast::lab::mongo
