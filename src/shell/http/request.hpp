#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <span>
#include <string_view>

namespace holdfast::shell::http {

struct header {
    std::string_view name = {};
    std::string_view value = {};
};

/// A request of HTTP/1.1. What is empty is omitted.
struct request {
    std::string_view method = "GET";  // any but HEAD, whose reply has another shape, and CONNECT
    std::string_view target = "/";    // escaped, with its query
    std::string_view host = {};       // with its port; never omitted
    std::string_view authorization = {};  // appears in no error, as no value of a header does
    std::string_view user_agent = {};
    std::string_view content_type = {};
    std::span<const header> more = {};  // none of those above, nor what frames the body
    std::string_view body = {};
};

/// Adds the bytes of the request. Fails with errc::invalid_request, and adds nothing, if a part of
/// it cannot stand where it would: a line break in a header, which would begin another one.
result<void> write_request(const request& what, bson::byte_buffer& to);

}  // namespace holdfast::shell::http
