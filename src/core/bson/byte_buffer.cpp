#include "holdfast/bson/byte_buffer.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::bson {

namespace {

constexpr std::size_t first_capacity = 256;  // most commands fit, so they are built in one go
constexpr std::size_t max_capacity = std::numeric_limits<std::ptrdiff_t>::max();

}  // namespace

void byte_buffer::make_room(std::size_t count)
{
    if (count > max_capacity - size_)
        throw std::bad_alloc{};
    const std::size_t doubled = capacity_ <= max_capacity / 2 ? capacity_ * 2 : max_capacity;
    reallocate(std::max({first_capacity, doubled, size_ + count}));
}

void byte_buffer::reallocate(std::size_t capacity)
{
    // Sanitizers abort on such a size where realloc would merely refuse.
    if (capacity > max_capacity)
        throw std::bad_alloc{};
    void* const moved = std::realloc(data_.get(), capacity);
    if (moved == nullptr)
        throw std::bad_alloc{};  // the old block is still ours and unchanged
    static_cast<void>(data_.release());  // realloc has freed or reused it
    data_.reset(static_cast<std::uint8_t*>(moved));
    capacity_ = capacity;
}

}  // namespace holdfast::bson
