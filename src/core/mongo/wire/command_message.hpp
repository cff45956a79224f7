#pragma once
#include "core/mongo/wire/message_flags.hpp"
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::mongo {

/// A command document inside the OP_MSG that will carry it, with room for the fields that depend on
/// an attempt: what an operation writes into it is not copied again before it is sent. Each attempt
/// opens the message, appends its own fields, and closes it; the next one drops them first.
///
///     bson::byte_buffer bytes = command_message::start(document.size());
///     bson::builder command{bytes};
///     command.add("insert", "seaweed")...
///     auto message = command_message::adopt(std::move(bytes));   // after command.finish()
///
///     std::optional<bson::builder> fields;
///     message.open(fields);
///     fields->add("$db", "sea");
///     const auto request = message.close(*fields, id);
class command_message {
public:
    /// A buffer that is ready for the command document, which has `about` bytes.
    static bson::byte_buffer start(std::size_t about);

    /// Takes over a buffer of start(), with one finished document behind what lay in it.
    static command_message adopt(bson::byte_buffer bytes) noexcept;

    command_message() = default;  // of the empty document
    explicit command_message(bson::view command);
    command_message(const bson::document& command) : command_message{command.view()} {}

    /// The command; after close() with the fields of the attempt. Not while it is open.
    bson::view view() const noexcept
    {
        return bytes_.empty() ? bson::view{} : bson::view::trusted(bytes_.data() + body_offset);
    }
    operator bson::view() const noexcept { return view(); }
    std::size_t size() const noexcept { return view().size(); }
    bool empty() const noexcept { return view().empty(); }
    bson::element_iterator begin() const noexcept { return view().begin(); }
    std::default_sentinel_t end() const noexcept { return {}; }
    bson::element find(std::string_view key) const noexcept { return view().find(key); }

    /// The command's name, its first key; valid until the message is opened.
    std::string_view name() const noexcept
    {
        return name_size_ == 0 ? std::string_view{}
                               : std::string_view{reinterpret_cast<const char*>(bytes_.data()) +
                                                      body_offset + first_key,
                                                  name_size_};
    }

    /// Drops the fields of an earlier attempt.
    void rewind() noexcept;

    /// Opens the document behind its last field, for what an attempt appends.
    void open(std::optional<bson::builder>& fields);

    /// Closes the message and gives it as it lies here, valid until it is opened or moved.
    result<std::span<const std::uint8_t>> close(bson::builder& fields, request_id id,
                                                message_flags flags,
                                                std::size_t limit = max_message_size);

private:
    /// Header, flag bits, and the kind of the section.
    static constexpr std::size_t body_offset = header_size + sizeof(std::uint32_t) + 1;
    static constexpr std::size_t first_key = sizeof(std::int32_t) + 1;

    bson::byte_buffer bytes_;  // nothing: the empty document
    std::size_t end_ = 0;  // of the command's own fields
    std::size_t name_size_ = 0;
};

}  // namespace holdfast::core::mongo
