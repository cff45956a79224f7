#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

namespace holdfast::core::mongo {

/// Codes that a server gave: the value is the server's own number.
const boost::system::error_category& server_category() noexcept;

/// What a reply says that went wrong: the command itself, or the write concern of one that was
/// carried out. With the server's code, its message, its labels, "codeName" in the context, and
/// the reply itself as a server_failure.
error make_server_error(bson::view reply);

/// The same for a write that was refused because of its txnNumber; the message says what to do.
error without_retryable_writes(bson::view reply);

}  // namespace holdfast::core::mongo
