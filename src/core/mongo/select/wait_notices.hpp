#pragma once
#include "holdfast/error.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::core::mongo {

/// What a selection that waits has to announce, and when. The first operation of every process
/// waits for the first check, which is no news: a wait is announced once it has lasted, or when it
/// was in vain.
class wait_notices {
public:
    static constexpr std::chrono::milliseconds log_after{500};
    static constexpr std::chrono::seconds warn_after{5};

    /// `logs`: to a log; `warns`: to users who have none.
    wait_notices(time_point began, bool logs, bool warns) noexcept
        : began_{began}, logs_{logs}, warns_{warns}
    {
    }

    /// True once.
    bool log_is_due(time_point now, time_point until) noexcept
    {
        const bool waited = now > began_ && (now >= began_ + log_after || now >= until);
        return waited && std::exchange(logs_, false);
    }
    bool warning_is_due(time_point now) noexcept
    {
        return now >= began_ + warn_after && std::exchange(warns_, false);
    }

    /// When to wake, for the next notice or at the end.
    time_point next(time_point until) const noexcept
    {
        time_point when = until;
        if (logs_)
            when = std::min(when, began_ + log_after);
        if (warns_)
            when = std::min(when, began_ + warn_after);
        return when;
    }

private:
    time_point began_;
    bool logs_;
    bool warns_;
};

}  // namespace holdfast::core::mongo
