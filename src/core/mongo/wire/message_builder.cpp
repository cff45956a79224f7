#include "core/mongo/wire/message_builder.hpp"

#include "core/mongo/wire/crc32c.hpp"

#include <cassert>
#include <string>

namespace holdfast::core::mongo {

namespace {

}  // namespace

message_builder::message_builder(bson::byte_buffer& out, request_id request, message_flags flags,
                                 request_id response_to)
    : out_{&out}, start_{out.size()}, flags_{flags}
{
    start_header(out, request, response_to, op_code::msg);
    bson::layout::store(out.grow(sizeof(std::uint32_t)), flags.bits());
    *out.grow(1) = body_section;
    command_.emplace(out);
}

document_sequence message_builder::sequence(std::string_view identifier)
{
    close_command();
    return document_sequence{*this, identifier};
}

result<std::span<const std::uint8_t>> message_builder::finish(std::size_t limit)
{
    close_command();
    if (flags_.checksum_present)
        out_->grow(sizeof(std::uint32_t));
    auto patched = patch_length(*out_, start_, limit);
    if (fault_)
        return *std::move(fault_);
    if (!patched)
        return std::move(patched).error();

    const std::span<const std::uint8_t> message = out_->bytes().subspan(start_);
    if (flags_.checksum_present) {
        const std::size_t covered = message.size() - sizeof(std::uint32_t);
        bson::layout::store(out_->data() + start_ + covered, crc32c(message.first(covered)));
    }
    return message;
}

void message_builder::close_command()
{
    if (!command_)
        return;
    auto closed = command_->finish();
    if (!closed)
        fail(std::move(closed).error());
    command_.reset();
}

void message_builder::fail(error why)
{
    if (!fault_)
        fault_ = std::move(why);
}

document_sequence::document_sequence(message_builder& message, std::string_view identifier)
    : message_{&message}
{
    bson::byte_buffer& out = *message.out_;
    if (identifier.find('\0') != identifier.npos)
        message.fail(bson::build_error(bson::errc::invalid_key, identifier));
    *out.grow(1) = sequence_section;
    start_ = out.size();
    out.grow(sizeof(std::int32_t));
    std::uint8_t* const to = out.grow(identifier.size() + 1);
    *bson::layout::store_bytes(to, identifier.data(), identifier.size()) = 0;
}

document_sequence::~document_sequence()
{
    // A length that does not fit makes the whole message too large, and finish() reports it.
    bson::byte_buffer& out = *message_->out_;
    bson::layout::store(out.data() + start_, static_cast<std::int32_t>(out.size() - start_));
}

void document_sequence::add(bson::view document)
{
    start_document();
    bson::layout::store_bytes(message_->out_->grow(document.size()), document.data(),
                              document.size());
    ++count_;
}

void document_sequence::append(std::span<const std::uint8_t> documents, std::size_t count)
{
    last_.reset();  // the beginning of the last one is unknown
    bson::layout::store_bytes(message_->out_->grow(documents.size()), documents.data(),
                              documents.size());
    count_ += count;
}

void document_sequence::start_document() noexcept
{
    last_ = message_->out_->size();
}

void document_sequence::end_document(result<bson::view> written)
{
    if (!written)
        message_->fail(std::move(written).error());
    ++count_;
}

void document_sequence::drop_last()
{
    assert(last_);
    if (!last_)
        return;
    message_->out_->truncate(*last_);
    last_.reset();
    --count_;
}

}  // namespace holdfast::core::mongo
