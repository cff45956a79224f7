#pragma once
#include "lab/couchbase/data/status.hpp"
#include "lab/couchbase/data/vbucket.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// The text of {"$document": {...}, "$XTOC": [...], "$vbucket": {...}}: what a lookup finds under
/// these names, and no document has stored.
std::string virtual_xattrs(const vbucket& in, const document& at);

/// "0x" and the digits of a number, as JSON string.
std::string hex_string(std::uint64_t number, int digits = 16);

/// What a mutation puts in the place of a macro.
struct macro_values {
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
};

struct expanded_value {
    kv_status code = kv_status::success;  // subdoc_xattr_unknown_macro
    std::string value = {};
};

/// Expands `"${Mutation.CAS}"`, `"${Mutation.seqno}"` and `"${Mutation.value_crc32c}"`, which are
/// the whole value. `body` is the document's value after the mutation.
expanded_value expand_macro(std::string_view value, const macro_values& with,
                            std::string_view body);

std::uint32_t crc32c(std::string_view bytes);

}  // namespace holdfast::lab::couchbase
