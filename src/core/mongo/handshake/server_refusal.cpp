#include "core/mongo/handshake/server_refusal.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/error/server_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace holdfast::core::mongo {

namespace {

/// The labels that mean something before a command has run.
constexpr std::array kept_labels = std::to_array<std::string_view>(
    {"RetryableError", "SystemOverloadedError"});

/// Enough for a sentence; the time to look for secrets grows with it.
constexpr std::size_t max_refusal_text = 1024;
constexpr std::size_t max_code_name = 64;

std::string_view text_at(bson::view reply, std::string_view key)
{
    const bson::element found = reply.find(key);
    return found.type() == bson::type::string ? found.as_string() : std::string_view{};
}

bool is_name(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= max_code_name && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
}

/// The name from our own table if it is there: whatever the server writes may quote what it was
/// sent.
std::string_view code_name(bson::view reply, const result<std::int32_t>& number,
                           const withheld_texts* withheld)
{
    const auto known = number ? known_code_name(*number) : std::string_view{};
    if (!known.empty() || withheld == nullptr)
        return known;
    const std::string_view theirs = text_at(reply, "codeName");
    return is_name(theirs) && !withheld->occur_in(theirs) ? theirs : std::string_view{};
}

/// What the server says about it, to be appended to a message.
std::string own_text(bson::view reply, const withheld_texts& withheld)
{
    const std::string_view text = text_at(reply, "errmsg");
    if (text.empty())
        return {};
    const std::string kept = limited_text(text, max_refusal_text);
    return withheld.occur_in(kept) ? " (server message redacted)" : ": " + kept;
}

}  // namespace

bool says_ok(bson::view reply)
{
    const bson::element ok = reply.find("ok");
    if (ok.type() == bson::type::boolean)
        return ok.as_bool();
    const auto number = ok.get<double>();
    return number && *number == 1;
}

error server_refusal(errc code, std::string_view what, bson::view reply,
                     const withheld_texts* withheld)
{
    const auto number = reply.find("code").get<std::int32_t>();
    std::string message{what};
    if (number)
        message.append(", error code ").append(std::to_string(*number));
    if (const auto name = code_name(reply, number, withheld); !name.empty())
        message.append(" (").append(name).append(")");
    if (withheld != nullptr)
        message.append(own_text(reply, *withheld));
    error refused{code, std::move(message)};
    if (number)
        refused = std::move(refused).with_context("code", std::to_string(*number));
    const auto labels = reply.find("errorLabels").get<bson::array_view>();
    if (!labels)
        return refused;
    for (const bson::element& label : *labels) {
        const bool is_text = label.type() == bson::type::string;
        if (is_text && std::ranges::find(kept_labels, label.as_string()) != kept_labels.end())
            refused = std::move(refused).with_label(label.as_string());
    }
    return refused;
}

std::optional<std::int32_t> refusal_code(const error& why) noexcept
{
    if (why.code().category() != category())
        return std::nullopt;
    const std::string_view text = why.context("code");
    std::int32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} ? std::optional{number} : std::nullopt;
}

}  // namespace holdfast::core::mongo
