#pragma once
#include "holdfast/bson/view.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// Wire messages put together byte by byte, right or wrong, by nothing that is under test.
class raw_message {
public:
    raw_message& int32(std::int32_t value) { return append(&value, sizeof value); }
    raw_message& int64(std::int64_t value) { return append(&value, sizeof value); }
    raw_message& byte(int value)
    {
        bytes_.push_back(static_cast<std::uint8_t>(value));
        return *this;
    }
    raw_message& text(std::string_view value) { return append(value.data(), value.size()); }
    raw_message& cstring(std::string_view value) { return text(value).byte(0); }
    raw_message& bytes(std::span<const std::uint8_t> value)
    {
        return append(value.data(), value.size());
    }
    raw_message& document(bson::view value) { return bytes(value.bytes()); }
    raw_message& header(std::int32_t code, std::int32_t request = 7, std::int32_t response_to = 5)
    {
        return int32(0).int32(request).int32(response_to).int32(code);
    }

    /// What was put so far, with its true length in front.
    std::vector<std::uint8_t> done() const
    {
        std::vector<std::uint8_t> whole = bytes_;
        const auto length = static_cast<std::int32_t>(whole.size());
        std::memcpy(whole.data(), &length, sizeof length);
        return whole;
    }

private:
    raw_message& append(const void* from, std::size_t size)
    {
        const auto* first = static_cast<const std::uint8_t*>(from);
        bytes_.insert(bytes_.end(), first, first + size);
        return *this;
    }

    std::vector<std::uint8_t> bytes_;
};

}  // namespace holdfast::proof
