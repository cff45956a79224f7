#include "lab/mongo/serve/reply_writer.hpp"

#include "core/mongo/wire/crc32c.hpp"
#include "core/mongo/wire/message_header.hpp"

#include <cstring>

namespace holdfast::lab::mongo {

namespace {

using core::mongo::header_size;
using core::mongo::op_code;

constexpr std::size_t request_at = 4;
constexpr std::size_t response_to_at = 8;
constexpr std::size_t legacy_head_size = 4 + 8 + 4 + 4;
constexpr std::int32_t await_capable = 1 << 3;
constexpr std::size_t usual_reply_size = 64 * 1024;

}  // namespace

void reply_writer::start(bool legacy)
{
    body_.reset();  // before the buffer is emptied: it writes its end
    packed_bytes_ = {};
    out_.clear();
    legacy_ = legacy;
    core::mongo::start_header(out_, {}, {}, legacy ? op_code::reply : op_code::msg);
    if (legacy) {
        std::uint8_t* const head = out_.grow(legacy_head_size);
        std::memset(head, 0, legacy_head_size);
        bson::layout::store(head, await_capable);
        bson::layout::store(head + legacy_head_size - 4, std::int32_t{1});  // one document
    } else {
        std::memset(out_.grow(5), 0, 5);  // flags, and a section of kind 0
    }
    body_.emplace(out_);
    empty_size_ = out_.size();
}

result<void> reply_writer::finish(request_id request, request_id response_to,
                                  core::mongo::message_flags flags)
{
    auto closed = body_->finish();
    body_.reset();
    if (!closed)
        return std::move(closed).error();
    if (legacy_)
        flags = {};
    if (flags.checksum_present)
        out_.grow(sizeof(std::uint32_t));
    if (auto patched = core::mongo::patch_length(out_, 0, core::mongo::max_message_size); !patched)
        return patched;
    bson::layout::store(out_.data() + request_at, request.value());
    bson::layout::store(out_.data() + response_to_at, response_to.value());
    if (legacy_)
        return {};
    bson::layout::store(out_.data() + header_size, flags.bits());
    if (flags.checksum_present) {
        const std::size_t covered = out_.size() - sizeof(std::uint32_t);
        bson::layout::store(out_.data() + covered,
                            core::mongo::crc32c(out_.bytes().first(covered)));
    }
    return {};
}

void reply_writer::pack(core::mongo::wire_compressor with)
{
    packed_.clear();
    core::mongo::compression compressor;
    compressor.with = with;
    const auto packed = core::mongo::compress_message(out_.bytes(), compressor, packed_);
    if (packed)
        packed_bytes_ = *packed;
}

void reply_writer::shrink()
{
    if (out_.capacity() > usual_reply_size && !body_) {
        out_ = {};
        packed_bytes_ = {};
    }
    if (packed_.capacity() > usual_reply_size) {
        packed_ = {};
        packed_bytes_ = {};
    }
}

}  // namespace holdfast::lab::mongo
