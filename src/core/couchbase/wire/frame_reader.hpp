#pragma once
#include "core/couchbase/wire/frame.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace holdfast::core::couchbase {

/// The bytes are not yet a frame: at least so many are missing.
struct need_more {
    std::size_t bytes = 0;
    friend bool operator==(need_more, need_more) = default;
};

/// What the bytes received so far amount to. They may go on after the first frame.
result<std::variant<need_more, frame>> next_frame(std::span<const std::uint8_t> received,
                                                  std::size_t body_limit = max_body_size);

/// The receiving side of a connection as a value: bytes go in as they come, frames come out. All
/// that has arrived is read at once, so that one read serves many pipelined replies; only a frame
/// that is larger than the buffer makes it grow, and then to its exact size.
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

    explicit frame_reader(std::size_t body_limit = max_body_size) noexcept : body_limit_{body_limit}
    {
    }

    /// The next frame, or how many bytes it lacks. A frame given is done with: it stays where it is
    /// until writable() is called, and the call after this one goes on behind it.
    result<std::variant<need_more, frame>> next();

    /// Where to put what arrives next: never empty, and room for all that next() said it needs.
    /// Frames given before are gone.
    std::span<std::uint8_t> writable();

    /// How much was put there.
    void received(std::size_t count) noexcept;

    /// Bytes that have arrived and are not yet part of a frame given.
    std::size_t pending() const noexcept { return end_ - begin_; }

    /// Gives back the memory of an unusually large frame. For a connection that goes idle.
    void shrink();

    std::size_t capacity() const noexcept { return storage_.size(); }

private:
    void move_to_front() noexcept;

    bson::byte_buffer storage_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t needed_ = 1;  // bytes that writable() must have room for
    std::size_t body_limit_;
};

}  // namespace holdfast::core::couchbase
