#pragma once
#include "holdfast/bson/byte_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::bson {

/// The memory of a receiving connection: bytes go in at its end as they come, and whole messages
/// are taken from its front, where they lie. All that has arrived is read at once, header and body
/// and the next message too, so that an ordinary reply costs one read; only a message that is
/// larger than the buffer makes it grow, and then to its exact size.
class receive_buffer {
public:
    static constexpr std::size_t usual_capacity = 64 * 1024;

    /// Where to put what arrives next: never empty, and room for all that is needed. What was taken
    /// before is gone.
    std::span<std::uint8_t> writable();

    /// How much was put there.
    void received(std::size_t count) noexcept;

    /// Bytes that have arrived and were not taken yet.
    std::size_t pending() const noexcept { return end_ - begin_; }

    /// Gives back the memory of an unusually large message. For a connection that goes idle.
    void shrink();

    std::size_t capacity() const noexcept { return storage_.size(); }

protected:
    std::span<const std::uint8_t> bytes() const noexcept
    {
        return storage_.bytes().subspan(begin_, end_ - begin_);
    }
    /// The first bytes are done with. They stay where they are until writable() is called.
    void take(std::size_t count) noexcept { begin_ += count; }
    /// The first message lacks so many bytes.
    void need(std::size_t count) noexcept { needed_ = count; }

private:
    void move_to_front() noexcept;

    byte_buffer storage_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t needed_ = 1;  // bytes that writable() must have room for
};

}  // namespace holdfast::bson
