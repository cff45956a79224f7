#include "core/mongo/handshake/server_refusal.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace holdfast::core::mongo {

namespace {

/// The labels that mean something before a command has run.
constexpr std::array kept_labels = std::to_array<std::string_view>(
    {"RetryableError", "SystemOverloadedError"});

}  // namespace

bool says_ok(bson::view reply)
{
    const bson::element ok = reply.find("ok");
    if (ok.type() == bson::type::boolean)
        return ok.as_bool();
    const auto number = ok.get<double>();
    return number && *number == 1;
}

error server_refusal(errc code, std::string_view what, bson::view reply)
{
    const auto number = reply.find("code").get<std::int32_t>();
    std::string message{what};
    if (number)
        message.append(", error code ").append(std::to_string(*number));
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

}  // namespace holdfast::core::mongo
