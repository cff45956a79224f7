#pragma once
#include "holdfast/error.hpp"

#include <type_traits>

namespace holdfast::shell::http {

/// What is wrong with a request of ours, or with a reply. What breaks a connection is said by the
/// system's own codes: see runtime/stream.hpp.
enum class errc {
    invalid_request = 1,  // a line break in a header, for instance; nothing was sent
    malformed_reply,      // context "offset"
    head_too_long,        // of a reply
    body_too_long,        // longer than its reader wants it
    cut_off,              // the peer closed the connection before the end of its reply
    not_supported,        // a coding that was not asked for, another protocol
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

}  // namespace holdfast::shell::http

template <>
struct boost::system::is_error_code_enum<holdfast::shell::http::errc> : std::true_type {};
