#include "core/mongo/wire/command_message.hpp"

#include <cstring>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// Fields that attempts append: $db, lsid, txnNumber, $clusterTime with its signature, and a plain
/// read preference. If they need more, the message is moved once.
constexpr std::size_t attempt_fields = 288;

}  // namespace

bson::byte_buffer command_message::start(std::size_t about)
{
    bson::byte_buffer bytes;
    bytes.reserve(body_offset + about + attempt_fields);
    bytes.grow(body_offset);  // written when the message is closed
    return bytes;
}

command_message command_message::adopt(bson::byte_buffer bytes) noexcept
{
    command_message made;
    made.end_ = bytes.size() - 1;
    made.bytes_ = std::move(bytes);
    const auto* const document = made.bytes_.data() + body_offset;
    if (!made.view().empty()) [[likely]]
        made.name_size_ = std::strlen(reinterpret_cast<const char*>(document) + first_key);
    return made;
}

command_message::command_message(bson::view command)
{
    bson::byte_buffer bytes = start(command.size());
    std::memcpy(bytes.grow(command.size()), command.data(), command.size());
    *this = adopt(std::move(bytes));
}

void command_message::rewind() noexcept
{
    if (bytes_.empty())
        return;
    bytes_.truncate(end_);
    *bytes_.grow(1) = 0;
    bson::layout::store(bytes_.data() + body_offset,
                        static_cast<std::int32_t>(end_ + 1 - body_offset));
}

void command_message::open(std::optional<bson::builder>& fields)
{
    if (bytes_.empty()) [[unlikely]]
        *this = command_message{bson::view{}};
    // A builder begins at the end of its buffer. The buffer leaves the memory behind its end alone,
    // so the command's fields are still there when the buffer has its size again.
    bytes_.truncate(body_offset);
    fields.emplace(bytes_);
    bytes_.grow(end_ - bytes_.size());
}

result<std::span<const std::uint8_t>> command_message::close(bson::builder& fields, request_id id,
                                                             message_flags flags, std::size_t limit)
{
    auto finished = fields.finish();
    if (!finished)
        return std::move(finished).error();
    std::uint8_t* to = bytes_.data() + sizeof(std::int32_t);
    to = bson::layout::store(to, id.value());
    to = bson::layout::store(to, request_id{}.value());
    to = bson::layout::store(to, static_cast<std::int32_t>(op_code::msg));
    to = bson::layout::store(to, flags.bits());
    *to = body_section;
    if (auto patched = patch_length(bytes_, 0, limit); !patched)
        return std::move(patched).error();
    return bytes_.bytes();
}

}  // namespace holdfast::core::mongo
