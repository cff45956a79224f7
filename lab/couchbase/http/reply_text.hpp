#pragma once
#include "lab/couchbase/http/message.hpp"

#include <string>

namespace holdfast::lab::couchbase {

/// The bytes of a reply. With a chunk size, or if it goes on, its body is in chunks.
std::string reply_text(const http_reply& reply, bool close);
/// A part of a body in chunks of so many bytes; 0: in one.
std::string chunks_text(std::string_view part, std::size_t chunk_size);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// An error as an object: {"error":"..."}.
http_reply refuse(int status, std::string_view why);

}  // namespace holdfast::lab::couchbase
