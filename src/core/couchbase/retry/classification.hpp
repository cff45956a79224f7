#pragma once
#include "core/couchbase/retry/names.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::core::couchbase {

/// The meaning of an unsuccessful answer. With a reason it goes to maybe_retry(); without one the
/// request fails at once with this error, and no orchestrator hears of it.
struct classification {
    std::optional<retry_reason> reason = {};
    error_code code = {};
    std::string message = {};
    bool fetch_config = false;  // the map of the cluster that we have is old, or is none

    std::vector<context_entry> context = {};  // of the error

    error as_error() const
    {
        error made{code, message};
        for (const context_entry& entry : context)
            made = std::move(made).with_context(entry.name, entry.value);
        return made;
    }
};

}  // namespace holdfast::core::couchbase
