#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast {

/// A value with a name of its own: an `endpoint` does not pass for a database name, nor a request
/// number for a connection number. The tag is any type, usually declared on the spot:
/// `using endpoint = strong_id<struct endpoint_tag, std::string>;`
template <class Tag, class Value>
class strong_id {
public:
    using value_type = Value;

    constexpr strong_id() = default;
    constexpr explicit strong_id(Value value) noexcept(std::is_nothrow_move_constructible_v<Value>)
        : value_{std::move(value)}
    {
    }

    constexpr const Value& value() const noexcept { return value_; }

    friend constexpr auto operator<=>(const strong_id&, const strong_id&) = default;
    friend constexpr bool operator==(const strong_id&, const strong_id&) = default;

private:
    Value value_{};
};

/// The address of one server as the topology knows it: "host:port", lower case, or a socket's path.
using endpoint = strong_id<struct endpoint_tag, std::string>;
using connection_id = strong_id<struct connection_id_tag, std::int64_t>;
using operation_id = strong_id<struct operation_id_tag, std::int64_t>;
using request_id = strong_id<struct request_id_tag, std::int32_t>;

}  // namespace holdfast

template <class Tag, class Value>
struct std::hash<holdfast::strong_id<Tag, Value>> {
    std::size_t operator()(const holdfast::strong_id<Tag, Value>& id) const
        noexcept(noexcept(std::hash<Value>{}(id.value())))
    {
        return std::hash<Value>{}(id.value());
    }
};
