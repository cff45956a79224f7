#include "lab/couchbase/data/subdoc_edit.hpp"

#include <optional>

namespace holdfast::lab::couchbase {

found_value find_path(std::string_view text, const subdoc_path& path)
{
    found_value at{kv_status::success, root_of(text)};
    for (const path_step& step : path.steps) {
        const json_kind kind = kind_of(text, at.value);
        const auto* const name = std::get_if<std::string>(&step);
        if (kind != (name ? json_kind::object : json_kind::array))
            return {kv_status::subdoc_path_mismatch, {}};
        const auto entry = name ? find_member(text, at.value, *name)
                                : find_element(text, at.value, std::get<std::int64_t>(step));
        if (!entry)
            return {kv_status::subdoc_path_not_found, {}};
        at.value = entry->value;
    }
    return at;
}

subdoc_value look_up(std::string_view text, subdoc_opcode what, const subdoc_path& path)
{
    const bool counts = what == subdoc_opcode::get_count;
    if (path.empty() && !counts)
        return {kv_status::subdoc_path_invalid, {}};
    const found_value found = find_path(text, path);
    if (found.code != kv_status::success || what == subdoc_opcode::exists)
        return {found.code, {}};
    if (!counts)
        return {kv_status::success, std::string{found.value.of(text)}};
    const json_kind kind = kind_of(text, found.value);
    if (kind != json_kind::object && kind != json_kind::array)
        return {kv_status::subdoc_path_mismatch, {}};
    return {kv_status::success, std::to_string(count_entries(text, found.value))};
}

}  // namespace holdfast::lab::couchbase
