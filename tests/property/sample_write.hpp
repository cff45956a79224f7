#pragma once
#include "holdfast/bson/document.hpp"
#include "sample.hpp"

#include <bson/bson.h>

#include <string>
#include <utility>

namespace holdfast::property {

/// Owns a document of libbson's, or nothing. A class of its own, since bson_t asks for an alignment
/// that template arguments lose.
class libbson_document {
public:
    explicit libbson_document(bson_t* owned) noexcept : owned_{owned} {}
    libbson_document(libbson_document&& other) noexcept
        : owned_{std::exchange(other.owned_, nullptr)}
    {
    }
    libbson_document& operator=(libbson_document&&) = delete;
    ~libbson_document() { bson_destroy(owned_); }

    explicit operator bool() const noexcept { return owned_ != nullptr; }
    bson_t* get() const noexcept { return owned_; }
    bson_t& operator*() const noexcept { return *owned_; }

private:
    bson_t* owned_;
};

inline std::span<const std::uint8_t> bytes_of(const bson_t& b)
{
    return {bson_get_data(&b), b.len};
}

/// The same values by two writers.
bson::document write_with_ours(const sample_document& d);
libbson_document write_with_libbson(const sample_document& d);

/// What differs between the values in memory and those that our readers find; empty if nothing.
std::string find_difference(bson::view found, const sample_document& expected);

/// For messages.
std::string hex(std::span<const std::uint8_t> bytes);

}  // namespace holdfast::property
