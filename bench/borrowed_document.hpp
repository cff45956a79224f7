#pragma once
#include <bson/bson.h>

#include <cstdint>
#include <span>
#include <stdexcept>

namespace holdfast::bench {

/// libbson's reader of borrowed bytes. It points into itself, so it must not be copied.
class borrowed_document {
public:
    explicit borrowed_document(std::span<const std::uint8_t> bytes)
    {
        if (!bson_init_static(&value_, bytes.data(), bytes.size()))
            throw std::runtime_error{"libbson does not take the document"};
    }
    borrowed_document(const borrowed_document&) = delete;
    borrowed_document& operator=(const borrowed_document&) = delete;
    ~borrowed_document() = default;

    const bson_t* get() const noexcept { return &value_; }

private:
    bson_t value_;
};

}  // namespace holdfast::bench
