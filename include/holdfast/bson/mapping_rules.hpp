#pragma once
#include <string_view>
#include <tuple>
#include <type_traits>

namespace holdfast::bson {

template <class Class, class Member>
struct renamed_field {
    Member Class::* member;
    std::string_view name;
};
template <class Enum>
struct renamed_enumerator {
    Enum value;
    std::string_view name;
};
template <class Class, class Member>
struct defaulted_field {
    Member Class::* member;
};
template <class Class, class Member>
struct skipped_field {
    Member Class::* member;
};
struct all_fields_defaulted {};
struct unknown_fields_rejected {};

/// Another name in the document than in the struct; also for a value of an enum.
template <class Class, class Member>
constexpr renamed_field<Class, Member> rename(Member Class::* member, std::string_view name)
{
    return {member, name};
}
template <class Enum>
    requires std::is_enum_v<Enum>
constexpr renamed_enumerator<Enum> rename(Enum value, std::string_view name)
{
    return {value, name};
}

/// May be missing, and then keeps what the struct's own initialiser gave it.
template <class Class, class Member>
constexpr defaulted_field<Class, Member> defaulted(Member Class::* member)
{
    return {member};
}
inline constexpr all_fields_defaulted all_defaulted{};

/// Neither read nor written.
template <class Class, class Member>
constexpr skipped_field<Class, Member> skip(Member Class::* member)
{
    return {member};
}

/// A field that the struct does not have is an error; without this rule it is ignored.
inline constexpr unknown_fields_rejected reject_unknown{};

/// The rules of one struct, in any order.
template <class... Rules>
struct mapping {
    constexpr explicit(false) mapping(Rules... all) : rules{all...} {}
    std::tuple<Rules...> rules;
};

/// Specialise this next to a described struct or enum that is not simply its members by their
/// names. The names below need no qualification there:
///
///     template <>
///     inline constexpr auto holdfast::bson::mapping_of<bank::account> = mapping{
///         rename(&bank::account::id, "_id"),
///         defaulted(&bank::account::note),
///         reject_unknown,
///     };
///
/// The rules of a base class hold for its members in derived ones too, except reject_unknown.
template <class T>
inline constexpr mapping<> mapping_of{};

}  // namespace holdfast::bson
