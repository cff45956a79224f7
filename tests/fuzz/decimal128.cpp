// Any text taken for a Decimal128, and any bits for its value.
#include "holdfast/bson/decimal128.hpp"

#include "require.hpp"

#include <cstring>

using namespace holdfast;

namespace {

void check_round_trip(const bson::decimal128& value)
{
    const std::string text = value.to_string();
    REQUIRE(!text.empty() && text.size() <= bson::decimal128::max_text);
    const auto back = bson::decimal128::parse(text);
    REQUIRE(back.has_value());
    REQUIRE(back->to_string() == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const auto value = bson::decimal128::parse(text)) {
        check_round_trip(*value);
        REQUIRE(bson::decimal128::parse(value->to_string()).value() == *value);
    }
    if (size >= 16) {
        bson::decimal128 bits;
        std::memcpy(&bits.low, data, 8);
        std::memcpy(&bits.high, data + 8, 8);
        check_round_trip(bits);
    }
    return 0;
}
