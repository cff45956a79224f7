#pragma once
#include "holdfast/bson/view.hpp"
#include "lab/mongo/document/collation.hpp"

#include <compare>

namespace holdfast::lab {

/// Where a type stands in MongoDB's order of types: MinKey, undefined, null (and missing), all
/// numbers, strings and symbols, objects, arrays, binary, ObjectId, boolean, date, timestamp,
/// regular expression, DBPointer, code, code with scope, MaxKey. Types of one rank compare by
/// value.
int rank_of(bson::type t) noexcept;

/// MongoDB's order of values; keys are not looked at. Numbers of all types compare by exact value:
/// NumberLong(1) equals 1.0, and NaN is the smallest of them. A missing element is like null.
std::weak_ordering compare(const bson::element& a, const bson::element& b,
                           const collation* by = nullptr);

/// Field by field: rank of type, then name, then value; arrays the same without names.
std::weak_ordering compare(bson::view a, bson::view b, const collation* by = nullptr);

inline bool equal(const bson::element& a, const bson::element& b, const collation* by = nullptr)
{
    return compare(a, b, by) == 0;
}

}  // namespace holdfast::lab
