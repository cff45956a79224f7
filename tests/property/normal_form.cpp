#include "normal_form.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace holdfast::property {
namespace {

void normalise(bson::view part, const std::uint8_t* begin, std::vector<std::uint8_t>& out)
{
    for (const bson::element& e : part) {
        std::uint8_t* const value = out.data() + (e.value_bytes().data() - begin);
        switch (e.type()) {
        case bson::type::double_:
            if (std::isnan(e.as_double())) {
                const double nan = std::numeric_limits<double>::quiet_NaN();
                std::memcpy(value, &nan, sizeof nan);
            }
            break;
        case bson::type::decimal128: {
            const auto shown = bson::decimal128::parse(e.as_decimal128().to_string()).value();
            std::memcpy(value, &shown.low, 8);
            std::memcpy(value + 8, &shown.high, 8);
            break;
        }
        case bson::type::document:
        case bson::type::array:
            normalise(e.as_document(), begin, out);
            break;
        case bson::type::code_with_scope:
            normalise(e.as_code_with_scope().value().scope, begin, out);
            break;
        default:
            break;
        }
    }
}

}  // namespace

std::vector<std::uint8_t> normal_form(bson::view document)
{
    std::vector<std::uint8_t> out(document.bytes().begin(), document.bytes().end());
    normalise(document, document.data(), out);
    return out;
}

}  // namespace holdfast::property
