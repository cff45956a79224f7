#include "lab/couchbase/data/subdoc_edit.hpp"

#include "lab/couchbase/data/json_check.hpp"

#include <charconv>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

struct edited_text {
    std::string& text;
    const subdoc_path& path;
    std::string_view value;
    bool create_parents;
};

std::size_t start_of(const json_entry& one)
{
    return one.key.size() != 0 ? one.key.begin : one.value.begin;
}

/// Before the closing bracket of an object or array.
void add_entry(std::string& text, const text_range& container, std::string_view entry)
{
    const bool first = count_entries(text, container) == 0;
    text.insert(container.end - 1, (first ? "" : ",") + std::string{entry});
}

void add_first_entry(std::string& text, const text_range& container, std::string_view entry)
{
    const bool only = count_entries(text, container) == 0;
    text.insert(container.begin + 1, std::string{entry} + (only ? "" : ","));
}

/// Takes an entry out, with the comma that separated it.
void remove_entry(std::string& text, const text_range& container, const text_range& value)
{
    json_entries all{text, container};
    std::optional<json_entry> before;
    auto one = all.next();
    for (; one && one->value.begin != value.begin; one = all.next())
        before = one;
    if (!one)
        return;
    const auto after = all.next();
    const std::size_t begin = before ? before->value.end : start_of(*one);
    const std::size_t end = !before && after ? start_of(*after) : one->value.end;
    text.erase(begin, end - begin);
}

kv_status check_value(std::string_view value, const subdoc_path& path)
{
    switch (check_json(value, max_subdoc_depth)) {
    case json_state::invalid:
        return kv_status::subdoc_cannot_insert;
    case json_state::too_deep:
        return kv_status::subdoc_value_too_deep;
    case json_state::valid:
        break;
    }
    return depth_of(value) + path.steps.size() > max_subdoc_depth ? kv_status::subdoc_value_too_deep
                                                                  : kv_status::success;
}

/// Some values, separated by commas, as an array takes them.
kv_status check_values(std::string_view values, const subdoc_path& path)
{
    const kv_status code = check_value("[" + std::string{values} + "]", path);
    const bool none = values.find_first_not_of(" \t\r\n") == values.npos;
    return none ? kv_status::subdoc_cannot_insert : code;
}

subdoc_path first_steps(const subdoc_path& path, std::size_t count)
{
    subdoc_path shorter;
    shorter.steps.assign(path.steps.begin(), path.steps.begin() + static_cast<long>(count));
    return shorter;
}

/// Adds `value` at a path that is not there. The last step and all that is missing before it are
/// names: elements of arrays are not created by the way.
kv_status create(const edited_text& in, std::string_view value)
{
    std::size_t there = in.path.steps.size() - 1;
    found_value parent = find_path(in.text, first_steps(in.path, there));
    while (parent.code == kv_status::subdoc_path_not_found && in.create_parents && there != 0)
        parent = find_path(in.text, first_steps(in.path, --there));
    if (parent.code != kv_status::success)
        return parent.code;
    const std::span missing = std::span{in.path.steps}.subspan(there);
    std::string made{value};
    for (std::size_t n = missing.size(); n-- > 0;) {
        const auto* const name = std::get_if<std::string>(&missing[n]);
        if (!name)
            return kv_status::subdoc_path_not_found;
        made = quoted(*name) + ":" + made;
        if (n != 0)
            made = "{" + made + "}";
    }
    if (kind_of(in.text, parent.value) != json_kind::object)
        return kv_status::subdoc_path_mismatch;
    add_entry(in.text, parent.value, made);
    return kv_status::success;
}

kv_status put_member(const edited_text& in, bool only_new)
{
    if (!in.path.last_name())
        return kv_status::subdoc_path_invalid;
    if (const kv_status wrong = check_value(in.value, in.path); wrong != kv_status::success)
        return wrong;
    const found_value found = find_path(in.text, in.path);
    if (found.code == kv_status::subdoc_path_not_found)
        return create(in, in.value);
    if (found.code != kv_status::success)
        return found.code;
    if (only_new)
        return kv_status::subdoc_path_exists;
    in.text.replace(found.value.begin, found.value.size(), in.value);
    return kv_status::success;
}

kv_status remove(const edited_text& in)
{
    if (in.path.empty())
        return kv_status::subdoc_path_invalid;
    const found_value found = find_path(in.text, in.path);
    if (found.code != kv_status::success)
        return found.code;
    const auto parent = find_path(in.text, first_steps(in.path, in.path.steps.size() - 1));
    remove_entry(in.text, parent.value, found.value);
    return kv_status::success;
}

kv_status replace(const edited_text& in)
{
    if (in.path.empty())
        return kv_status::subdoc_path_invalid;
    if (const kv_status wrong = check_value(in.value, in.path); wrong != kv_status::success)
        return wrong;
    const found_value found = find_path(in.text, in.path);
    if (found.code == kv_status::success)
        in.text.replace(found.value.begin, found.value.size(), in.value);
    return found.code;
}

/// The array at the path, or a new one that has the value already.
kv_status push(const edited_text& in, bool last)
{
    if (const kv_status wrong = check_values(in.value, in.path); wrong != kv_status::success)
        return wrong;
    const found_value found = find_path(in.text, in.path);
    if (found.code == kv_status::subdoc_path_not_found && in.create_parents)
        return create(in, "[" + std::string{in.value} + "]");
    if (found.code != kv_status::success)
        return found.code;
    if (kind_of(in.text, found.value) != json_kind::array)
        return kv_status::subdoc_path_mismatch;
    if (last)
        add_entry(in.text, found.value, in.value);
    else
        add_first_entry(in.text, found.value, in.value);
    return kv_status::success;
}

kv_status insert(const edited_text& in)
{
    const std::int64_t* const index = in.path.last_index();
    if (!index || *index < 0)
        return kv_status::subdoc_path_invalid;
    if (const kv_status wrong = check_values(in.value, in.path); wrong != kv_status::success)
        return wrong;
    const auto array = find_path(in.text, first_steps(in.path, in.path.steps.size() - 1));
    if (array.code != kv_status::success)
        return array.code;
    if (kind_of(in.text, array.value) != json_kind::array)
        return kv_status::subdoc_path_mismatch;
    if (const auto there = find_element(in.text, array.value, *index)) {
        in.text.insert(there->value.begin, std::string{in.value} + ",");
        return kv_status::success;
    }
    if (count_entries(in.text, array.value) != static_cast<std::size_t>(*index))
        return kv_status::subdoc_path_not_found;
    add_entry(in.text, array.value, in.value);
    return kv_status::success;
}

bool is_container(std::string_view text, const text_range& value)
{
    const json_kind kind = kind_of(text, value);
    return kind == json_kind::object || kind == json_kind::array;
}

kv_status add_unique(const edited_text& in)
{
    if (check_json(in.value, max_subdoc_depth) != json_state::valid ||
        is_container(in.value, root_of(in.value)))
        return kv_status::subdoc_cannot_insert;
    const found_value found = find_path(in.text, in.path);
    if (found.code == kv_status::success && kind_of(in.text, found.value) == json_kind::array) {
        json_entries all{in.text, found.value};
        const std::string_view wanted = root_of(in.value).of(in.value);
        while (const auto one = all.next()) {
            if (is_container(in.text, one->value))
                return kv_status::subdoc_path_mismatch;
            if (one->value.of(in.text) == wanted)
                return kv_status::subdoc_path_exists;
        }
    }
    return push(in, true);
}

template <class Number>
std::errc read_whole(std::string_view text, Number& number)
{
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc{} && end != text.data() + text.size() ? std::errc::invalid_argument
                                                                      : problem;
}

subdoc_value add_to_counter(const edited_text& in)
{
    std::int64_t delta = 0;
    if (read_whole(in.value, delta) != std::errc{} || delta == 0)
        return {kv_status::subdoc_delta_invalid, {}};
    if (in.path.empty())
        return {kv_status::subdoc_path_invalid, {}};
    const found_value found = find_path(in.text, in.path);
    if (found.code == kv_status::subdoc_path_not_found) {
        if (!in.path.last_name())
            return {kv_status::subdoc_path_not_found, {}};
        std::string first = std::to_string(delta);
        const kv_status code = create(in, first);
        return {code, code == kv_status::success ? std::move(first) : std::string{}};
    }
    if (found.code != kv_status::success)
        return {found.code, {}};
    std::int64_t number = 0;
    const std::errc problem = kind_of(in.text, found.value) == json_kind::number
                                  ? read_whole(found.value.of(in.text), number)
                                  : std::errc::invalid_argument;
    if (problem == std::errc::result_out_of_range)
        return {kv_status::subdoc_number_range, {}};
    if (problem != std::errc{})
        return {kv_status::subdoc_path_mismatch, {}};
    if (__builtin_add_overflow(number, delta, &number))
        return {kv_status::subdoc_cannot_insert, {}};
    std::string sum = std::to_string(number);
    in.text.replace(found.value.begin, found.value.size(), sum);
    return {kv_status::success, std::move(sum)};
}

}  // namespace

subdoc_value edit(std::string& text, subdoc_opcode what, const subdoc_path& path,
                  std::string_view value, bool create_parents)
{
    const edited_text in{text, path, value, create_parents};
    switch (what) {
    case subdoc_opcode::dict_add:
        return {put_member(in, true), {}};
    case subdoc_opcode::dict_upsert:
        return {put_member(in, false), {}};
    case subdoc_opcode::remove:
        return {remove(in), {}};
    case subdoc_opcode::replace:
        return {replace(in), {}};
    case subdoc_opcode::array_push_last:
        return {push(in, true), {}};
    case subdoc_opcode::array_push_first:
        return {push(in, false), {}};
    case subdoc_opcode::array_insert:
        return {insert(in), {}};
    case subdoc_opcode::array_add_unique:
        return {add_unique(in), {}};
    case subdoc_opcode::counter:
        return add_to_counter(in);
    case subdoc_opcode::get_document:
    case subdoc_opcode::set_document:
    case subdoc_opcode::remove_document:
    case subdoc_opcode::get:
    case subdoc_opcode::exists:
    case subdoc_opcode::get_count:
    case subdoc_opcode::replace_body_with_xattr:
        break;
    }
    return {kv_status::subdoc_invalid_combination, {}};
}

}  // namespace holdfast::lab::couchbase
