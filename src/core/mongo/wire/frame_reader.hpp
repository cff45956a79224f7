#pragma once
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/bson/byte_buffer.hpp"
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

/// The receiving side of a connection as a value: bytes go in as they come, messages come out. All
/// that has arrived is read at once, header and body and the next message too, so that an ordinary
/// reply costs one read; only a message that is larger than the buffer makes it grow, and then to
/// its exact size.
///
///     for (;;) {
///         auto next = reader.next();
///         if (!next) return next.error();          // the connection is beyond repair
///         if (frame* f = std::get_if<frame>(&*next)) ...
///         reader.received(read_some(reader.writable()));
///     }
class frame_reader {
public:
    static constexpr std::size_t usual_capacity = 64 * 1024;

    explicit frame_reader(std::size_t limit = max_message_size) noexcept : limit_{limit} {}

    /// The next message, or how many bytes it lacks. A message given is done with: it stays where
    /// it is until writable() is called, and the call after this one goes on behind it.
    result<std::variant<need_more, frame>> next();

    /// Where to put what arrives next: never empty, and room for all that next() said it needs.
    /// Messages given before are gone.
    std::span<std::uint8_t> writable();

    /// How much was put there.
    void received(std::size_t count) noexcept;

    /// Bytes that have arrived and are not yet part of a message given.
    std::size_t pending() const noexcept { return end_ - begin_; }

    /// Gives back the memory of an unusually large message. For a connection that goes idle.
    void shrink();

    std::size_t capacity() const noexcept { return storage_.size(); }

private:
    void move_to_front() noexcept;

    bson::byte_buffer storage_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t needed_ = 1;  // bytes that writable() must have room for
    std::size_t limit_;
};

}  // namespace holdfast::core::mongo
