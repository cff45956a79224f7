#pragma once
#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/message_flags.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::lab::mongo {

/// Writes the reply to one message after the other into one buffer, in place: an OP_MSG, or an
/// OP_REPLY for those who asked in the old way.
class reply_writer {
public:
    /// What was written before is gone.
    void start(bool legacy);

    bson::builder& body() noexcept { return *body_; }
    /// Nothing was added to the body yet. Only while no nested builder is open.
    bool empty() const noexcept { return out_.size() == empty_size_; }

    /// Closes the message. The flags are those that it is to have.
    result<void> finish(request_id request, request_id response_to,
                        core::mongo::message_flags flags);
    /// After finish(): packs it. If that fails it stays as it is.
    void pack(core::mongo::wire_compressor with);

    std::span<const std::uint8_t> bytes() const noexcept
    {
        return packed_bytes_.empty() ? out_.bytes() : packed_bytes_;
    }

    /// Gives back the memory of an unusually large reply.
    void shrink();

private:
    bson::byte_buffer out_;
    bson::byte_buffer packed_;
    std::span<const std::uint8_t> packed_bytes_;
    std::optional<bson::builder> body_;
    std::size_t empty_size_ = 0;
    bool legacy_ = false;
};

}  // namespace holdfast::lab::mongo
