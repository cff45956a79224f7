#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/element.hpp"
#include "holdfast/bson/store.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/view.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace holdfast::lab::updating {

/// Writes a changed document. Unlike a builder it can take back what it wrote, which is how a path
/// is created only if something comes to lie at its end. Keys never hold a zero byte: all of them
/// come from keys, or were checked.
class writer {
public:
    explicit writer(bson::byte_buffer& out) : out_{&out} {}

    std::size_t size() const noexcept { return out_->size(); }
    void take_back(std::size_t size) noexcept { out_->truncate(size); }
    const std::uint8_t* at(std::size_t offset) const noexcept { return out_->data() + offset; }

    void raw(const std::uint8_t* from, std::size_t size)
    {
        if (size != 0)
            std::memcpy(out_->grow(size), from, size);
    }
    void put(bson::type t, std::string_view key, std::span<const std::uint8_t> value)
    {
        head(t, key);
        raw(value.data(), value.size());
    }
    void copy(std::string_view key, const bson::element& e) { put(e.type(), key, e.value_bytes()); }

    /// Begins a document or array; close() wants what open() gave.
    std::size_t open() { return static_cast<std::size_t>(out_->grow(4) - out_->data()); }
    std::size_t open(bson::type t, std::string_view key)
    {
        head(t, key);
        return open();
    }
    void close(std::size_t start)
    {
        *out_->grow(1) = 0;
        bson::layout::store(out_->data() + start, static_cast<std::int32_t>(out_->size() - start));
    }

private:
    void head(bson::type t, std::string_view key)
    {
        std::uint8_t* const to = out_->grow(key.size() + 2);
        *to = static_cast<std::uint8_t>(t);
        if (!key.empty())
            std::memcpy(to + 1, key.data(), key.size());
        to[key.size() + 1] = 0;
    }

    bson::byte_buffer* out_;
};

}  // namespace holdfast::lab::updating
