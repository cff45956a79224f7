#pragma once
#include "holdfast/bson/builder.hpp"

#include <string_view>
#include <tuple>

namespace holdfast::bson {

/// A nested document or array inside fields(...), doc(...) and arr(...), written in place. It holds
/// references: use it within the expression that makes it.
template <class... Parts>
struct object_expression {
    std::tuple<const Parts&...> parts;
};
template <class... Parts>
struct list_expression {
    std::tuple<const Parts&...> parts;
};
template <class... Parts>
constexpr object_expression<Parts...> object(const Parts&... keys_and_values) noexcept
{
    return {{keys_and_values...}};
}
template <class... Parts>
constexpr list_expression<Parts...> list(const Parts&... values) noexcept
{
    return {{values...}};
}

template <class... Parts>
struct codec<object_expression<Parts...>> {
    static void write(auto& out, std::string_view key, const object_expression<Parts...>& value)
    {
        auto nested = out.document(key);
        std::apply([&](const auto&... part) { nested.fields(part...); }, value.parts);
    }
};
template <class... Parts>
struct codec<list_expression<Parts...>> {
    static void write(auto& out, std::string_view key, const list_expression<Parts...>& value)
    {
        auto nested = out.array(key);
        std::apply([&](const auto&... part) { (nested.add(part), ...); }, value.parts);
    }
};

}  // namespace holdfast::bson
