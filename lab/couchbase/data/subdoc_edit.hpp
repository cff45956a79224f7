#pragma once
#include "lab/couchbase/data/json_scan.hpp"
#include "lab/couchbase/data/status.hpp"
#include "lab/couchbase/data/subdoc_path.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// What a spec of a subdocument request may ask for. The first three are of the whole document.
enum class subdoc_opcode : std::uint8_t {
    get_document = 0x00,
    set_document = 0x01,
    remove_document = 0x04,
    get = 0xc5,
    exists = 0xc6,
    dict_add = 0xc7,
    dict_upsert = 0xc8,
    remove = 0xc9,
    replace = 0xca,
    array_push_last = 0xcb,
    array_push_first = 0xcc,
    array_insert = 0xcd,
    array_add_unique = 0xce,
    counter = 0xcf,
    get_count = 0xd2,
    replace_body_with_xattr = 0xd3,
};

struct found_value {
    kv_status code = kv_status::success;  // subdoc_path_not_found, subdoc_path_mismatch
    text_range value = {};
};

/// The value at a path of a valid JSON text; the whole value for an empty path.
found_value find_path(std::string_view text, const subdoc_path& path);

/// One answer of a lookup: get, exists and get_count.
struct subdoc_value {
    kv_status code = kv_status::success;
    std::string value = {};
};
subdoc_value look_up(std::string_view text, subdoc_opcode what, const subdoc_path& path);

/// One change of a valid JSON text, which is valid JSON of at most max_subdoc_depth levels again
/// afterwards. On failure the text is as it was. Only a counter has a value to give.
subdoc_value edit(std::string& text, subdoc_opcode what, const subdoc_path& path,
                  std::string_view value, bool create_parents);

}  // namespace holdfast::lab::couchbase
