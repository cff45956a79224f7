#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::bson {
class element;
}

namespace holdfast::lab::filter {

/// Some of the BSON types: what $type and bsonType ask for.
class type_set {
public:
    void insert(bson::type t) noexcept { bits_ |= bit_of(t); }
    void insert(const type_set& other) noexcept { bits_ |= other.bits_; }
    bool holds(bson::type t) const noexcept { return (bits_ & bit_of(t)) != 0; }
    bool empty() const noexcept { return bits_ == 0; }

private:
    static constexpr std::uint64_t bit_of(bson::type t) noexcept
    {
        const auto number = static_cast<unsigned>(t);
        if (t == bson::type::max_key || t == bson::type::min_key)
            return std::uint64_t{1} << (t == bson::type::max_key ? 62 : 63);
        return number == 0 || number > 61 ? 0 : std::uint64_t{1} << number;
    }

    std::uint64_t bits_ = 0;
};

/// MongoDB's name of a type, "int" or "objectId"; "number" is four of them.
std::optional<type_set> types_named(std::string_view name) noexcept;
std::string_view name_of_type(bson::type t) noexcept;

/// A name, a number, or an array of them, as $type takes it.
result<type_set> read_types(const bson::element& from);

}  // namespace holdfast::lab::filter
