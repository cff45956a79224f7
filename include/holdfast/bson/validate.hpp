#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::bson {

struct validation {
    bool utf8 = true;                             // also check all text and keys
    int depth = max_depth;                        // the outermost document counts as one
    std::size_t size = max_document_size;
};

/// Checks every byte of exactly one document, without allocating. The error names the byte offset
/// and the key of the offending element.
result<view> validate(std::span<const std::uint8_t> bytes, validation what = {});

/// Whether `text` is well-formed UTF-8: no surrogates, no overlong forms, nothing past U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace holdfast::bson
