#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::lab::couchbase {

/// A part of a text that check_json() found to be valid. Subdocument operations work on the text,
/// so that what they do not touch keeps its bytes: numbers, white space, the order of members.
struct text_range {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const noexcept { return end - begin; }
    std::string_view of(std::string_view text) const { return text.substr(begin, size()); }
};

enum class json_kind : std::uint8_t { object, array, string, number, boolean, null };

json_kind kind_of(std::string_view text, const text_range& value);

/// The whole text without the white space around it.
text_range root_of(std::string_view text);

/// One member of an object or one element of an array. `key` is empty for an element.
struct json_entry {
    text_range key = {};  // with its quotes
    text_range value = {};
};

/// Walks over the entries of an object or array: next() gives one after the other.
class json_entries {
public:
    json_entries(std::string_view text, const text_range& container);

    std::optional<json_entry> next();

private:
    std::string_view text_;
    std::size_t at_;
    bool object_;
};

/// The member of that name, not yet unescaped by the caller.
std::optional<json_entry> find_member(std::string_view text, const text_range& object,
                                      std::string_view name);

/// The element at that index; -1 is the last one.
std::optional<json_entry> find_element(std::string_view text, const text_range& array,
                                       std::int64_t index);

std::size_t count_entries(std::string_view text, const text_range& container);

/// Levels of arrays and objects in a value; a scalar has none.
std::size_t depth_of(std::string_view value);

}  // namespace holdfast::lab::couchbase
