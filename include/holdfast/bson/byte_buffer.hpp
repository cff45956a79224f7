#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace holdfast::bson {

/// Bytes that grow at the end and are not zeroed first: what documents and messages are built in.
/// Keeps its memory over clear(), so that one buffer serves many messages.
class byte_buffer {
public:
    byte_buffer() = default;
    byte_buffer(const byte_buffer& other) { *this = other; }
    byte_buffer(byte_buffer&& other) noexcept
        : data_{std::move(other.data_)},
          size_{std::exchange(other.size_, 0)},
          capacity_{std::exchange(other.capacity_, 0)}
    {
    }
    byte_buffer& operator=(const byte_buffer& other)
    {
        if (this == &other)
            return *this;
        clear();
        if (other.size_ != 0)
            std::memcpy(grow(other.size_), other.data(), other.size_);
        return *this;
    }
    byte_buffer& operator=(byte_buffer&& other) noexcept
    {
        data_ = std::move(other.data_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        return *this;
    }
    ~byte_buffer() = default;

    std::uint8_t* data() noexcept { return data_.get(); }
    const std::uint8_t* data() const noexcept { return data_.get(); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    std::size_t capacity() const noexcept { return capacity_; }
    std::span<const std::uint8_t> bytes() const noexcept { return {data(), size_}; }

    void clear() noexcept { size_ = 0; }
    void reserve(std::size_t capacity)
    {
        if (capacity > capacity_)
            reallocate(capacity);
    }

    /// Makes room for `count` more bytes, whose values are anything, and points to the first.
    std::uint8_t* grow(std::size_t count)
    {
        if (capacity_ - size_ < count) [[unlikely]]
            make_room(count);
        std::uint8_t* const first = data_.get() + size_;
        size_ += count;
        return first;
    }

    /// Drops everything from `size` on.
    void truncate(std::size_t size) noexcept
    {
        if (size < size_)
            size_ = size;
    }

private:
    struct freed {
        void operator()(std::uint8_t* p) const noexcept { std::free(p); }
    };

    void make_room(std::size_t count);
    void reallocate(std::size_t capacity);

    std::unique_ptr<std::uint8_t, freed> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// A buffer for a builder: byte_buffer itself, or any container of bytes that can be resized.
template <class Buffer>
concept growable_bytes = requires(Buffer& b, std::size_t n) {
    { b.size() } -> std::convertible_to<std::size_t>;
    b.data();
    b.resize(n);
} && sizeof(*std::declval<Buffer&>().data()) == 1;

inline std::uint8_t* grow(byte_buffer& out, std::size_t count)
{
    return out.grow(count);
}

template <growable_bytes Buffer>
std::uint8_t* grow(Buffer& out, std::size_t count)
{
    const std::size_t before = out.size();
    out.resize(before + count);
    return reinterpret_cast<std::uint8_t*>(out.data()) + before;
}

}  // namespace holdfast::bson
