#include "lab/mongo/expression/text.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/calendar.hpp"

#include <cmath>
#include <cstdio>

namespace holdfast::lab::computing {

namespace {

/// Where servers take a double for text, they print six digits of it; $toString prints all.
std::string short_real_text(double v)
{
    if (std::isnan(v))
        return "nan";
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%g", v);
    return {text, static_cast<std::size_t>(size)};
}

}  // namespace

std::string date_text(bson::datetime when)
{
    return format_date(when, std::chrono::minutes{0}, "%Y-%m-%dT%H:%M:%S.%LZ").value_or("");
}

result<std::string> coerce_to_text(const bson::element& from)
{
    if (is_nullish(from))
        return std::string{};
    if (from.type() == bson::type::string || from.type() == bson::type::code ||
        from.type() == bson::type::symbol)
        return std::string{from.as_string()};
    if (from.type() == bson::type::double_)
        return short_real_text(from.as_double());
    if (from.type() == bson::type::int32 || from.type() == bson::type::int64 ||
        from.type() == bson::type::decimal128)
        return to_text(from);
    if (from.type() == bson::type::datetime)
        return date_text(from.as_datetime());
    return refuse(16007,
                  "can't convert from BSON type " + std::string{type_name(from)} + " to String");
}

std::size_t code_point_at(std::string_view text, std::size_t number) noexcept
{
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (continues(text[at]))
            continue;
        if (number-- == 0)
            return at;
    }
    return std::string_view::npos;
}

std::size_t code_points(std::string_view text) noexcept
{
    std::size_t count = 0;
    for (const char c : text)
        count += continues(c) ? 0 : 1;
    return count;
}

}  // namespace holdfast::lab::computing
