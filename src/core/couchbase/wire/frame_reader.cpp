#include "core/couchbase/wire/frame_reader.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace holdfast::core::couchbase {

result<std::variant<need_more, frame>> next_frame(std::span<const std::uint8_t> received,
                                                  std::size_t body_limit)
{
    using answer = std::variant<need_more, frame>;
    // A wrong first byte is an error even if it is alone: a peer that speaks another protocol may
    // never send 24.
    const bool too_few = received.size() < frame_header_size;
    if (too_few && (received.empty() || is_magic(received[0])))
        return answer{need_more{frame_header_size - received.size()}};
    auto header = parse_frame_header(received, body_limit);
    if (!header) [[unlikely]]
        return std::move(header).error();
    const std::size_t whole = frame_header_size + header->body_size;
    if (received.size() < whole)
        return answer{need_more{whole - received.size()}};
    return answer{frame{*header, received.first(whole)}};
}

result<std::variant<need_more, frame>> frame_reader::next()
{
    auto found = next_frame(storage_.bytes().subspan(begin_, end_ - begin_), body_limit_);
    if (!found) [[unlikely]]
        return found;
    if (const auto* whole = std::get_if<frame>(&*found))
        begin_ += whole->bytes.size();
    else
        needed_ = std::get_if<need_more>(&*found)->bytes;
    return found;
}

std::span<std::uint8_t> frame_reader::writable()
{
    if (begin_ == end_)
        begin_ = end_ = 0;
    if (storage_.size() - end_ < needed_) {
        move_to_front();
        const std::size_t wanted = std::max(usual_capacity, end_ + needed_);
        if (storage_.size() < wanted) {
            storage_.reserve(wanted);
            storage_.grow(wanted - storage_.size());
        }
    }
    return {storage_.data() + end_, storage_.size() - end_};
}

void frame_reader::received(std::size_t count) noexcept
{
    assert(count <= storage_.size() - end_);
    end_ += std::min(count, storage_.size() - end_);
    needed_ = 1;  // until next() has looked at what came
}

void frame_reader::shrink()
{
    if (storage_.size() <= usual_capacity || pending() > usual_capacity)
        return;
    bson::byte_buffer usual;
    usual.reserve(usual_capacity);
    std::memcpy(usual.grow(usual_capacity), storage_.data() + begin_, pending());
    end_ = pending();
    begin_ = 0;
    storage_ = std::move(usual);
}

void frame_reader::move_to_front() noexcept
{
    if (begin_ == 0)
        return;
    std::memmove(storage_.data(), storage_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
}

}  // namespace holdfast::core::couchbase
