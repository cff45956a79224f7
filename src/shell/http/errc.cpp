#include "shell/http/errc.hpp"

#include <string>

namespace holdfast::shell::http {

const boost::system::error_category& category() noexcept
{
    struct http_error_category final : boost::system::error_category {
        const char* name() const noexcept override { return "http"; }
        std::string message(int value) const override
        {
            switch (static_cast<errc>(value)) {
            case errc::invalid_request:
                return "the request cannot be sent as HTTP";
            case errc::malformed_reply:
                return "the reply is not HTTP";
            case errc::head_too_long:
                return "the head of the reply is too long";
            case errc::body_too_long:
                return "the body of the reply is too long";
            case errc::cut_off:
                return "the connection was closed before the end of the reply";
            case errc::not_supported:
                return "the reply uses what was not asked for";
            }
            return "unknown HTTP error";
        }
    };
    static const http_error_category instance;
    return instance;
}

}  // namespace holdfast::shell::http
