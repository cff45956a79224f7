#include "core/bson/receive_buffer.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace holdfast::bson {

std::span<std::uint8_t> receive_buffer::writable()
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

void receive_buffer::received(std::size_t count) noexcept
{
    assert(count <= storage_.size() - end_);
    end_ += std::min(count, storage_.size() - end_);
    needed_ = 1;  // until the caller has looked at what came
}

void receive_buffer::shrink()
{
    if (storage_.size() <= usual_capacity || pending() > usual_capacity)
        return;
    byte_buffer usual;
    usual.reserve(usual_capacity);
    std::memcpy(usual.grow(usual_capacity), storage_.data() + begin_, pending());
    end_ = pending();
    begin_ = 0;
    storage_ = std::move(usual);
}

void receive_buffer::move_to_front() noexcept
{
    if (begin_ == 0)
        return;
    std::memmove(storage_.data(), storage_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
}

}  // namespace holdfast::bson
