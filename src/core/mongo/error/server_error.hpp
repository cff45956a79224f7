#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::core::mongo {

/// Codes that a server gave: the value is the server's own number.
const boost::system::error_category& server_category() noexcept;

/// What a reply says that went wrong: the command itself, or the write concern of one that was
/// carried out. With the server's code, its message, its labels, "codeName" in the context, and
/// the reply itself as a server_failure. Texts and labels are limited: see server_text.hpp.
error make_server_error(bson::view reply);

/// The same for a write that was refused because of its txnNumber; the message says what to do.
error without_retryable_writes(bson::view reply);

/// The server's name of a well-known code: "DuplicateKey"; empty if it is none of them. Replies
/// have it, the errors of single statements in them do not.
std::string_view known_code_name(std::int32_t code) noexcept;

/// Whether a server said that there is no such collection (NamespaceNotFound).
bool is_namespace_not_found(const error& from) noexcept;

}  // namespace holdfast::core::mongo
