#pragma once
#include "shell/couchbase/execute/kv_attempts.hpp"

#include <optional>
#include <utility>

/// The connection that an attempt on a thread of its own has for itself.
namespace holdfast::shell::couchbase {

inline bool needs_own(const kv_call& call, const kv_route& route) noexcept
{
    return call.may_block && route.link->exclusive() != nullptr;
}

/// False if there is none.
inline bool take_own(kv_route& route, std::optional<exclusive_pool::lease> from)
{
    if (!from)
        return false;
    route.own = std::move(from);
    route.connection = (*route.own)->inner();
    return true;
}

/// Gives it back when this goes, and with it the bytes of its last reply.
class give_back {
public:
    give_back(kv_route& of, time_point now) noexcept : route_{of}, now_{now} {}
    give_back(const give_back&) = delete;
    give_back& operator=(const give_back&) = delete;
    ~give_back()
    {
        if (!route_.own) [[likely]]
            return;
        route_.own->give_back(now_);
        route_.own.reset();
    }

private:
    kv_route& route_;
    const time_point now_;
};

}  // namespace holdfast::shell::couchbase
