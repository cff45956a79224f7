#pragma once
#include "core/mongo/operation/query.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/cursor.hpp"

#include <memory>
#include <string>

namespace holdfast::mongo {

struct client_impl;
struct collection_settings;
class session;

/// Where a cursor comes from. The last two name its errors where there is no command to do so.
struct cursor_origin {
    std::shared_ptr<client_impl> client;
    std::shared_ptr<const collection_settings> in;
    std::string command;
};

/// A cursor whose query is sent when its first document is asked for. An error of the query is
/// reported then. `in` may be null.
cursor make_cursor(cursor_origin from, result<core::mongo::query> what, const session* in);

}  // namespace holdfast::mongo
