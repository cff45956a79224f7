#pragma once
#include "holdfast/error.hpp"

#include <type_traits>

namespace holdfast::core {

/// Why a pool gives no connection, or takes one from its user, for reasons of its own.
enum class pool_errc {
    closed = 1,
    cleared,    // retryable: nothing was sent, unless a connection in use was interrupted
    timed_out,  // while waiting in line
    replaced,   // another server has taken over its role: choose anew
    queue_full,
};

const boost::system::error_category& pool_category() noexcept;

inline error_code make_error_code(pool_errc e) noexcept
{
    return {static_cast<int>(e), pool_category()};
}

}  // namespace holdfast::core

template <>
struct boost::system::is_error_code_enum<holdfast::core::pool_errc> : std::true_type {};
