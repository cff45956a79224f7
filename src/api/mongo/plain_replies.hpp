#pragma once
#include "core/mongo/operation/admin.hpp"

#include <utility>

namespace holdfast::mongo {

/// The reply itself, for operations that are just a command.
inline result<bson::document> read_reply(result<bson::document> outcome,
                                         const core::mongo::command&)
{
    return outcome;
}

/// That there was one, for operations that have nothing to tell.
inline result<void> read_done(result<bson::document> outcome, const core::mongo::command&)
{
    if (!outcome)
        return std::move(outcome).error();
    return {};
}

inline result<void> read_drop(result<bson::document> outcome, const core::mongo::command&)
{
    return core::mongo::read_drop(std::move(outcome));
}

}  // namespace holdfast::mongo
