#include "lab/mongo/document/compare.hpp"

#include "lab/mongo/document/number.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace holdfast::lab {

namespace {

using bson::type;

// Deeper than any document that is let in; bytes that are nested deeper are ordered as bytes.
constexpr int deepest = 250;

std::weak_ordering compare_inside(bson::view a, bson::view b, bool names, const collation* by,
                                  int depth);

/// As memcmp orders them; the shorter of two that begin alike comes first.
std::weak_ordering compare_bytes(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b)
{
    const std::size_t common = std::min(a.size(), b.size());
    const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
    return order != 0 ? order <=> 0 : std::weak_ordering{a.size() <=> b.size()};
}

std::weak_ordering compare_text(std::string_view a, std::string_view b)
{
    const int order = a.compare(b);
    return order <=> 0;
}

/// Length first, then subtype, then content.
std::weak_ordering compare_binary(const bson::binary& a, const bson::binary& b)
{
    if (a.bytes.size() != b.bytes.size())
        return a.bytes.size() <=> b.bytes.size();
    if (a.subtype != b.subtype)
        return a.subtype <=> b.subtype;
    return compare_bytes(a.bytes, b.bytes);
}

std::weak_ordering compare_regex(const bson::regex& a, const bson::regex& b)
{
    const auto order = compare_text(a.pattern, b.pattern);
    return order != 0 ? order : compare_text(a.options, b.options);
}

std::weak_ordering compare_scoped(const bson::element& a, const bson::element& b,
                                  const collation* by, int depth)
{
    const auto x = a.as_code_with_scope();
    const auto y = b.as_code_with_scope();
    if (!x || !y)
        return compare_bytes(a.value_bytes(), b.value_bytes());
    const auto order = compare_text(x->source, y->source);
    return order != 0 ? order : compare_inside(x->scope, y->scope, true, by, depth + 1);
}

/// Two values of one rank.
std::weak_ordering compare_alike(const bson::element& a, const bson::element& b,
                                 const collation* by, int depth)
{
    switch (a.type()) {
    case type::invalid:
    case type::null:
    case type::undefined:
    case type::min_key:
    case type::max_key:
        return std::weak_ordering::equivalent;
    case type::double_:
    case type::int32:
    case type::int64:
    case type::decimal128:
        return compare_numbers(a, b);
    case type::string:
    case type::symbol:
        return by == nullptr ? compare_text(a.as_string(), b.as_string())
                             : by->compare(a.as_string(), b.as_string());
    case type::document:
        return compare_inside(a.as_document(), b.as_document(), true, by, depth);
    case type::array:
        return compare_inside(a.as_document(), b.as_document(), false, by, depth);
    case type::binary:
        return compare_binary(a.as_binary(), b.as_binary());
    case type::boolean:
        return a.as_bool() <=> b.as_bool();
    case type::datetime:
        return a.as_datetime() <=> b.as_datetime();
    case type::timestamp:
        return a.as_timestamp() <=> b.as_timestamp();
    case type::regex:
        return compare_regex(a.as_regex(), b.as_regex());
    case type::code:
        return compare_text(a.as_string(), b.as_string());
    case type::code_with_scope:
        return compare_scoped(a, b, by, depth);
    case type::object_id:
    case type::db_pointer:
        return compare_bytes(a.value_bytes(), b.value_bytes());
    }
    return std::weak_ordering::equivalent;
}

std::weak_ordering compare_inside(bson::view a, bson::view b, bool names, const collation* by,
                                  int depth)
{
    if (depth >= deepest)
        return compare_bytes(a.bytes(), b.bytes());
    auto x = a.begin();
    auto y = b.begin();
    for (; x != a.end() && y != b.end(); ++x, ++y) {
        const int x_rank = rank_of(x->type());
        const int y_rank = rank_of(y->type());
        if (x_rank != y_rank)
            return x_rank <=> y_rank;
        if (names && x->key() != y->key())
            return compare_text(x->key(), y->key());
        if (const auto order = compare_alike(*x, *y, by, depth + 1); order != 0)
            return order;
    }
    return (x != a.end()) <=> (y != b.end());
}

}  // namespace

int rank_of(type t) noexcept
{
    switch (t) {
    case type::min_key:
        return -1;
    case type::undefined:
        return 0;
    case type::invalid:
    case type::null:
        return 5;
    case type::double_:
    case type::int32:
    case type::int64:
    case type::decimal128:
        return 10;
    case type::string:
    case type::symbol:
        return 15;
    case type::document:
        return 20;
    case type::array:
        return 25;
    case type::binary:
        return 30;
    case type::object_id:
        return 35;
    case type::boolean:
        return 40;
    case type::datetime:
        return 45;
    case type::timestamp:
        return 47;
    case type::regex:
        return 50;
    case type::db_pointer:
        return 55;
    case type::code:
        return 60;
    case type::code_with_scope:
        return 65;
    case type::max_key:
        return 127;
    }
    return 5;
}

std::weak_ordering compare(const bson::element& a, const bson::element& b, const collation* by)
{
    const int a_rank = rank_of(a.type());
    const int b_rank = rank_of(b.type());
    return a_rank != b_rank ? std::weak_ordering{a_rank <=> b_rank} : compare_alike(a, b, by, 0);
}

std::weak_ordering compare(bson::view a, bson::view b, const collation* by)
{
    return compare_inside(a, b, true, by, 0);
}

}  // namespace holdfast::lab
