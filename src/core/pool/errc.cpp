#include "core/pool/errc.hpp"

#include "core/pool/pool_event.hpp"

#include <string>

namespace holdfast::core {

const boost::system::error_category& pool_category() noexcept
{
    struct pool_error_category final : boost::system::error_category {
        const char* name() const noexcept override { return "pool"; }
        std::string message(int value) const override
        {
            switch (static_cast<pool_errc>(value)) {
            case pool_errc::closed:
                return "the connection pool is closed";
            case pool_errc::cleared:
                return "the connection pool was cleared";
            case pool_errc::timed_out:
                return "no connection became free in time";
            case pool_errc::replaced:
                return "another server has replaced this one";
            case pool_errc::queue_full:
                return "too many callers wait for a connection";
            }
            return "unknown pool error";
        }
    };
    static const pool_error_category category;
    return category;
}

std::string_view name_of(close_reason reason) noexcept
{
    switch (reason) {
    case close_reason::stale:
        return "stale";
    case close_reason::idle:
        return "idle";
    case close_reason::error:
        return "error";
    case close_reason::pool_closed:
        return "poolClosed";
    }
    return "error";
}

std::string_view name_of(checkout_failure reason) noexcept
{
    switch (reason) {
    case checkout_failure::pool_closed:
        return "poolClosed";
    case checkout_failure::timeout:
        return "timeout";
    case checkout_failure::connection_error:
        return "connectionError";
    }
    return "connectionError";
}

}  // namespace holdfast::core
