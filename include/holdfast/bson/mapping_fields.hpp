#pragma once
#include "holdfast/bson/mapping_rules.hpp"

#include <boost/describe/bases.hpp>
#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/integral.hpp>
#include <boost/mp11/list.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace holdfast::bson {

/// A struct whose members Boost.Describe can list.
template <class T>
concept described_struct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

/// The fields that the members of a struct become: everything here is computed by the compiler.
namespace described {

/// Members of any access, those of described base classes first.
template <class T>
using members_of = boost::describe::describe_members<T, boost::describe::mod_any_access |
                                                            boost::describe::mod_inherited>;

struct field_rule {
    std::string_view key;
    bool skipped = false;
    bool defaulted = false;
};

template <class Member, class Class, class Value>
constexpr bool is(Value Class::* member)
{
    if constexpr (std::is_same_v<std::remove_cv_t<decltype(Member::pointer)>, Value Class::*>)
        return Member::pointer == member;
    else
        return false;
}

template <class Member, class Class, class Value>
constexpr bool apply(const renamed_field<Class, Value>& rule, field_rule& field)
{
    if (is<Member>(rule.member))
        field.key = rule.name;
    return is<Member>(rule.member);
}
template <class Member, class Class, class Value>
constexpr bool apply(const defaulted_field<Class, Value>& rule, field_rule& field)
{
    field.defaulted |= is<Member>(rule.member);
    return is<Member>(rule.member);
}
template <class Member, class Class, class Value>
constexpr bool apply(const skipped_field<Class, Value>& rule, field_rule& field)
{
    field.skipped |= is<Member>(rule.member);
    return is<Member>(rule.member);
}
template <class Member>
constexpr bool apply(const all_fields_defaulted&, field_rule& field)
{
    return field.defaulted = true;
}
template <class Member>
constexpr bool apply(const unknown_fields_rejected&, field_rule&)
{
    return true;
}

/// Applies all rules of T that concern a member.
template <class T, class Member>
constexpr void apply_rules(field_rule& field)
{
    std::apply([&](const auto&... rule) { (static_cast<void>(apply<Member>(rule, field)), ...); },
               mapping_of<T>.rules);
}

template <class Class, class Value>
Class owner(Value Class::*);

/// The rules of the class that declares the member come first, so that a derived one can overrule.
template <class T, class Member>
constexpr field_rule rule_of()
{
    using declaring = decltype(owner(Member::pointer));
    field_rule field{Member::name};
    if constexpr (!std::is_same_v<declaring, T>)
        apply_rules<declaring, Member>(field);
    apply_rules<T, Member>(field);
    return field;
}

template <class T>
struct is_skipped {
    template <class Member>
    using fn = boost::mp11::mp_bool<rule_of<T, Member>().skipped>;
};

/// The members that are read and written.
template <class T>
using fields_of = boost::mp11::mp_remove_if_q<members_of<T>, is_skipped<T>>;

template <class T>
inline constexpr std::size_t field_count = boost::mp11::mp_size<fields_of<T>>::value;

template <class T, std::size_t I>
using field = boost::mp11::mp_at_c<fields_of<T>, I>;

template <class T, std::size_t I>
inline constexpr field_rule rule = rule_of<T, field<T, I>>();

template <class T>
constexpr std::array<field_rule, field_count<T>> rules_of()
{
    std::array<field_rule, field_count<T>> all{};
    std::size_t next = 0;
    boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, fields_of<T>>>(
        [&]<class Member>(boost::mp11::mp_identity<Member>) {
            all[next++] = rule_of<T, Member>();
        });
    return all;
}
template <class T>
inline constexpr auto rules = rules_of<T>();

/// The index of a key among the fields; field_count if it is none of them.
template <class T>
constexpr std::size_t position_of(std::string_view key)
{
    std::size_t at = 0;
    while (at < field_count<T> && rules<T>[at].key != key)
        ++at;
    return at;
}

template <class T>
inline constexpr bool rejects_unknown = std::apply(
    [](const auto&... rule) {
        return (std::is_same_v<decltype(rule), const unknown_fields_rejected&> || ...);
    },
    mapping_of<T>.rules);

template <class T>
constexpr bool keys_differ()
{
    for (std::size_t i = 0; i < field_count<T>; ++i) {
        if (position_of<T>(rules<T>[i].key) != i)
            return false;
    }
    return true;
}

template <class T>
constexpr bool keys_have_no_zero_byte()
{
    for (const field_rule& each : rules<T>) {
        if (each.key.find('\0') != each.key.npos)
            return false;
    }
    return true;
}

/// Whether every rule is about some member: a rule for a member that was not described would
/// otherwise be forgotten in silence.
template <class T>
constexpr bool rules_have_members()
{
    constexpr auto finds_one = [](const auto& rule) {
        bool found = std::is_empty_v<std::remove_cvref_t<decltype(rule)>>;
        boost::mp11::mp_for_each<
            boost::mp11::mp_transform<boost::mp11::mp_identity, members_of<T>>>(
            [&]<class Member>(boost::mp11::mp_identity<Member>) {
                field_rule ignored{};
                found |= apply<Member>(rule, ignored);
            });
        return found;
    };
    return std::apply([&](const auto&... rule) { return (finds_one(rule) && ...); },
                      mapping_of<T>.rules);
}

}  // namespace described

}  // namespace holdfast::bson
