#pragma once
#include "core/bson/receive_buffer.hpp"
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace holdfast::core::mongo {

/// The bytes are not yet a message: at least so many are missing.
struct need_more {
    std::size_t bytes = 0;
    friend bool operator==(need_more, need_more) = default;
};

/// One whole message at the start of the bytes.
struct frame {
    message_header header;
    std::span<const std::uint8_t> bytes;
};

/// What the bytes received so far amount to. They may go on after the first message.
result<std::variant<need_more, frame>> next_frame(std::span<const std::uint8_t> received,
                                                  std::size_t limit = max_message_size);

/// The receiving side of a connection as a value: bytes go in as they come, messages come out.
///
///     for (;;) {
///         auto next = reader.next();
///         if (!next) return next.error();          // the connection is beyond repair
///         if (frame* f = std::get_if<frame>(&*next)) ...
///         reader.received(read_some(reader.writable()));
///     }
class frame_reader : public bson::receive_buffer {
public:
    explicit frame_reader(std::size_t limit = max_message_size) noexcept : limit_{limit} {}

    /// The next message, or how many bytes it lacks. A message given is done with: it stays where
    /// it is until writable() is called, and the call after this one goes on behind it.
    result<std::variant<need_more, frame>> next();

    /// The same for the usual case. False: next() says what is missing or wrong.
    bool next_whole(frame& into) noexcept
    {
        const std::span<const std::uint8_t> received = bytes();
        if (!load_header(received, limit_, into.header) || into.header.length > received.size())
            return false;
        into.bytes = received.first(into.header.length);
        take(into.header.length);
        return true;
    }

private:
    std::size_t limit_;
};

}  // namespace holdfast::core::mongo
