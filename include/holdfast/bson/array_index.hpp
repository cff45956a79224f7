#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::bson {

/// The keys of an array in turn: "0", "1", "2" ...
class array_index {
public:
    /// Valid until the next call.
    std::string_view next() noexcept
    {
        if (digit_ == '9' + 1) [[unlikely]]
            carry();
        text_[sizeof text_ - 1] = digit_++;
        return {text_ + first_, sizeof text_ - first_};
    }

private:
    void carry() noexcept
    {
        std::size_t at = sizeof text_ - 1;
        while (at > first_ && text_[at - 1] == '9')
            text_[--at] = '0';
        if (at == first_)
            text_[--first_] = '1';
        else
            ++text_[at - 1];
        digit_ = '0';
    }

    char text_[10];  // 2^31 elements do not fit into a document
    char digit_ = '0';
    std::uint8_t first_ = sizeof text_ - 1;
};

}  // namespace holdfast::bson
