#pragma once
#include "core/mongo/operation/query.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/cursor.hpp"

#include <memory>

namespace holdfast::mongo {

struct client_impl;
class session;

/// A cursor whose query is sent when its first document is asked for. An error of the query is
/// reported then. `in` may be null.
cursor make_cursor(std::shared_ptr<client_impl> of, result<core::mongo::query> what,
                   const session* in);

}  // namespace holdfast::mongo
