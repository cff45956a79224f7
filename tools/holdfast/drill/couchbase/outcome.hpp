#pragma once
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/error.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <string>

/// What errors of Couchbase mean for a write.
namespace holdfast::drill {

inline fate couchbase_fate_of(const error& cause)
{
    return cause.context("may_have_been_applied") == "true" ? fate::unclear : fate::failed;
}

/// Short, and the same for all errors of a kind: "ambiguous_timeout: KV_LOCKED".
inline std::string couchbase_reason_of(const error& cause)
{
    std::string made = cause.code().message();
    if (const auto reasons = cause.context("retry_reasons"); !reasons.empty())
        made.append(" (").append(reasons).append(")");
    return made;
}

inline bool is(const error& cause, couchbase::errc what)
{
    return cause.code() == make_error_code(what);
}

}  // namespace holdfast::drill
