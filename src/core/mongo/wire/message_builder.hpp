#pragma once
#include "core/mongo/wire/message_flags.hpp"
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

class document_sequence;

/// Writes one OP_MSG at the end of a buffer, in place: nothing is built elsewhere and copied. First
/// the command, then any number of document sequences; lengths are filled in when each is closed.
/// Clear the buffer and use it again for the next message.
///
///     message_builder insert{out, id};
///     insert.command().add("insert", "seaweed").add("$db", "sea");
///     {
///         auto documents = insert.sequence("documents");
///         documents.add(first);
///     }
///     const auto message = insert.finish();
///
/// As with a bson::builder, mistakes are remembered, and finish() reports them.
class message_builder {
public:
    message_builder(bson::byte_buffer& out, request_id request, message_flags flags = {},
                    request_id response_to = {});
    message_builder(const message_builder&) = delete;
    message_builder& operator=(const message_builder&) = delete;

    /// The command document; closed by the first sequence, or by finish().
    bson::builder& command() noexcept { return *command_; }

    /// Documents that belong to a field of the command but lie outside of it, so that together they
    /// may exceed what one document can hold. While one is open, nothing else may be written.
    document_sequence sequence(std::string_view identifier);

    /// Bytes of the message so far. A checksum will add four.
    std::size_t size() const noexcept { return out_->size() - start_; }

    /// Closes the message and gives it as it lies in the buffer, valid until the buffer grows.
    result<std::span<const std::uint8_t>> finish(std::size_t limit = max_message_size);

private:
    friend class document_sequence;

    void close_command();
    void fail(error why);

    bson::byte_buffer* out_;
    std::size_t start_;
    message_flags flags_;
    std::optional<error> fault_;
    std::optional<bson::builder> command_;
};

/// An open sequence of a message; closed when it goes out of scope.
class document_sequence {
public:
    document_sequence(const document_sequence&) = delete;
    document_sequence& operator=(const document_sequence&) = delete;
    ~document_sequence();

    void add(bson::view document);

    /// `count` documents that already lie one behind the other.
    void append(std::span<const std::uint8_t> documents, std::size_t count);

    /// One more document, written by `write(bson::builder&)` straight into the message.
    template <class Write>
    void write(Write&& write)
    {
        start_document();
        bson::builder document{*message_->out_};
        std::forward<Write>(write)(document);
        end_document(document.finish());
    }

    /// Takes the last document back, because with it the message would be too large. Only once.
    void drop_last();

    std::size_t count() const noexcept { return count_; }

private:
    friend class message_builder;

    document_sequence(message_builder& message, std::string_view identifier);
    void start_document() noexcept;
    void end_document(result<bson::view> written);

    message_builder* message_;
    std::size_t start_;  // of the section's length field
    std::optional<std::size_t> last_;  // where the last document begins
    std::size_t count_ = 0;
};

}  // namespace holdfast::core::mongo
