#pragma once
#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

enum class op_code : std::int32_t {
    reply = 1,          // OP_REPLY: the answer to a legacy hello
    query = 2004,       // OP_QUERY: a legacy hello
    compressed = 2012,  // OP_COMPRESSED: any of the others
    msg = 2013,         // OP_MSG: everything else
};

std::string_view name_of(op_code code) noexcept;

inline constexpr std::size_t header_size = 16;

/// The largest message that a server sends or takes by default: 48 MB, and 16 kB for what surrounds
/// the documents.
inline constexpr std::size_t max_message_size = 48'000'000 + 16'384;

struct message_header {
    std::size_t length = 0;  // of the whole message, this header included
    request_id request = {};
    request_id response_to = {};
    op_code code = op_code::msg;
    friend bool operator==(const message_header&, const message_header&) = default;
};

/// The header at the start of `bytes`, which may go on after it. That its length is within the
/// limit is known before anybody allocates for it.
result<message_header> parse_header(std::span<const std::uint8_t> bytes,
                                    std::size_t limit = max_message_size);

/// The same for the usual case, without a reason: whether the header is valid.
bool load_header(std::span<const std::uint8_t> bytes, std::size_t limit,
                 message_header& into) noexcept;

/// The same for bytes that must be one whole message, no more and no less.
result<message_header> parse_whole(std::span<const std::uint8_t> message,
                                   std::size_t limit = max_message_size);

/// Writes a header at the end of `out`, with a length that patch_length() fills in.
void start_header(bson::byte_buffer& out, request_id request, request_id response_to, op_code code);

/// Ends the message that begins at `start` and goes on to the end of `out`; an error if it is
/// too large.
result<void> patch_length(bson::byte_buffer& out, std::size_t start, std::size_t limit);

/// An error that names the byte of the message where something is wrong.
error wire_error(errc what, std::size_t offset, std::string_view why);

}  // namespace holdfast::core::mongo
