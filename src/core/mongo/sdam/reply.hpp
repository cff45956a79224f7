#pragma once
#include "holdfast/bson/view.hpp"

namespace holdfast::core::mongo {

/// Servers say yes by true, 1 or 1.0. What is no number, or is not there, is no.
inline bool is_true(const bson::element& e)
{
    if (e.type() == bson::type::double_) [[likely]]
        return e.as_double() != 0;
    if (e.type() == bson::type::boolean)
        return e.as_bool();
    return e.get<double>().value_or(0) != 0;
}

/// Whether the command was carried out; a write concern or a single statement may have failed.
inline bool is_ok(bson::view reply)
{
    return is_true(reply["ok"]);
}

}  // namespace holdfast::core::mongo
