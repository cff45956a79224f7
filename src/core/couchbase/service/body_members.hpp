#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/codec.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// Members of the JSON object that a request is made of. A raw option of the user replaces a member
/// of its name, so all members go through this.
class body_members {
public:
    explicit body_members(std::span<const holdfast::couchbase::raw_option> raw) : raw_{raw} {}
    body_members(const body_members&) = delete;
    body_members& operator=(const body_members&) = delete;
    ~body_members() = default;

    bool is_raw(std::string_view name) const noexcept;

    void add(std::string_view name, std::string_view value);
    void add(std::string_view name, const char* value) { add(name, std::string_view{value}); }
    void add(std::string_view name, bool value);
    /// Servers want most numbers as texts.
    void add_text_of(std::string_view name, std::optional<std::uint64_t> number);
    void add_number(std::string_view name, std::optional<std::uint64_t> number);
    void add_flag(std::string_view name, bool value);  // only if it is set
    void add_json(std::string_view name, std::string_view json);
    void add_list(std::string_view name, std::span<const std::string_view> texts);
    /// "75000ms"
    void add_time(std::string_view name, std::optional<std::chrono::milliseconds> time);
    /// Placeholders of a statement; what could not be encoded is the error of finish().
    void add_parameters(const holdfast::couchbase::query_parameters* parameters);

    /// The text between the braces of the object, the raw options last. errc::invalid_argument if
    /// something is not UTF-8, or not JSON where JSON is expected.
    result<std::string> finish() &&;

private:
    void add_positional(const holdfast::couchbase::query_parameters& parameters);
    void note(std::string_view name);

    std::span<const holdfast::couchbase::raw_option> raw_;
    bson::byte_buffer bytes_;
    json::writer out_{bytes_};
    std::optional<error> problem_;
};

/// What a json::writer has written.
std::string text_in(const bson::byte_buffer& written);

/// A text as JSON has it, with its quotes.
result<std::string> json_text_of(std::string_view name, std::string_view text);

/// The object with all these members; some of the texts may be empty.
std::string object_of(std::initializer_list<std::string_view> members);

/// The same without the braces.
std::string joined(std::initializer_list<std::string_view> members);

/// What a server is given as its timeout: none at all would be no limit.
constexpr std::chrono::milliseconds at_least_one(std::chrono::milliseconds time) noexcept
{
    return std::max(time, std::chrono::milliseconds{1});
}

/// "timeout":"75000ms"
std::string timeout_member(std::chrono::milliseconds time_left);

}  // namespace holdfast::core::couchbase
