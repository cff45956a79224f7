#pragma once
#include "holdfast/error.hpp"

#include <string_view>

namespace holdfast::lab::filter {

/// Whether sorts and projections may name a field like this: no empty part (15998, 40352, 40353),
/// none that begins with '$' (16410), at most 200 parts (15).
result<void> check_path(std::string_view path);

}  // namespace holdfast::lab::filter
