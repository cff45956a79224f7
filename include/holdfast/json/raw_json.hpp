#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// JSON as a text that was not looked at: what comes from a server, or goes to one, byte for byte.
class raw_json {
public:
    raw_json() = default;
    explicit raw_json(std::string text) noexcept : text_{std::move(text)} {}
    explicit raw_json(std::string_view text) : text_{text} {}
    explicit raw_json(const char* text) : text_{text} {}

    const std::string& text() const& noexcept { return text_; }
    std::string&& text() && noexcept { return std::move(text_); }
    bool empty() const noexcept { return text_.empty(); }

    friend bool operator==(const raw_json&, const raw_json&) = default;

private:
    std::string text_;
};

}  // namespace holdfast
