#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

namespace holdfast::core::mongo {

/// Codes that a server gave: the value is the server's own number.
const boost::system::error_category& server_category() noexcept;

/// What a reply says that went wrong: the command itself, or the write concern of one that was
/// carried out. With the server's code, its words, its labels, and "codeName" in the context.
error make_server_error(bson::view reply);

}  // namespace holdfast::core::mongo
