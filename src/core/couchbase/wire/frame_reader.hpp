#pragma once
#include "core/bson/receive_buffer.hpp"
#include "core/couchbase/wire/frame.hpp"
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

/// The receiving side of a connection as a value: bytes go in as they come, frames come out.
///
///     for (;;) {
///         auto next = reader.next();
///         if (!next) return next.error();          // the connection is beyond repair
///         if (frame* f = std::get_if<frame>(&*next)) ...
///         reader.received(read_some(reader.writable()));
///     }
class frame_reader : public bson::receive_buffer {
public:
    explicit frame_reader(std::size_t body_limit = max_body_size) noexcept : body_limit_{body_limit}
    {
    }

    /// The next frame, or how many bytes it lacks. A frame given is done with: it stays where it is
    /// until writable() is called, and the call after this one goes on behind it.
    result<std::variant<need_more, frame>> next();

    /// The next frame, if all of it has arrived and it is a good one: the short way of next(),
    /// which says what there is instead.
    bool next_whole(frame& into) noexcept
    {
        if (!load_whole_frame(bytes(), body_limit_, into))
            return false;
        take(into.bytes.size());
        return true;
    }

private:
    std::size_t body_limit_;
};

}  // namespace holdfast::core::couchbase
