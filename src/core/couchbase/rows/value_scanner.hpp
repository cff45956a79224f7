#pragma once
#include "holdfast/json/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::core::couchbase {

/// Finds the end of one JSON value in a text that arrives in pieces. Strings must end, and what
/// opens an object or an array must be closed by its like; what lies between them is not looked
/// at, and is refused by what reads the value. Numbers and literals that stand alone are checked.
class value_scanner {
public:
    enum class outcome : std::uint8_t { more, done, failed };

    static constexpr std::size_t deepest = json::max_depth;

    /// Not beyond `deepest`.
    explicit value_scanner(std::size_t max_depth = deepest) noexcept;

    /// A new value.
    void begin() noexcept { inside_ = kind::nothing; }

    /// Takes what is there of the value; its first byte is not white space. Afterwards `at` is
    /// behind it, or at the end, or at what cannot be part of it. A number has no end of its own:
    /// it ends where something else begins.
    outcome take(const char*& at, const char* end) noexcept;

    /// What was expected, after a failure: "a value".
    std::string_view wanted() const noexcept { return wanted_; }

private:
    enum class kind : std::uint8_t { nothing, nested, string, number, literal };

    bool begin_with(const char*& at) noexcept;
    outcome take_nested(const char*& at, const char* end) noexcept;
    outcome take_string(const char*& at, const char* end) noexcept;
    outcome take_number(const char*& at, const char* end) noexcept;
    outcome take_literal(const char*& at, const char* end) noexcept;
    std::uint64_t escaped_bytes(std::uint64_t backslashes, std::size_t size) noexcept;
    bool take_bracket(char c) noexcept;
    outcome fail(std::string_view wanted) noexcept;

    kind inside_ = kind::nothing;
    std::uint8_t number_ = 0;  // where it stands
    bool escaped_ = false;  // the next byte, by a backslash before it
    std::uint64_t in_string_ = 0;  // all bits, or none
    std::size_t depth_ = 0;
    std::size_t max_depth_;
    std::string_view literal_ = {};  // the rest of "true"
    std::string_view wanted_ = {};
    std::array<char, deepest> close_{};  // what ends each open object or array
};

}  // namespace holdfast::core::couchbase
