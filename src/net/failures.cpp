#include "net/failures.hpp"

#include "net/address.hpp"

#include <string_view>

namespace holdfast::net {

using runtime::destination;
using runtime::errc;

namespace {

std::string list_of(std::span<const std::string> names)
{
    std::string list;
    for (const auto& one : names)
        list += (list.empty() ? "" : ", ") + one;
    return list;
}

error about(const destination& where, errc code, const std::string& message)
{
    return error{make_error_code(code), message}
        .with_context("server", to_string(where))
        .with_context("phase", runtime::phase_connect);
}

}  // namespace

error all_failed(const destination& where, std::span<const std::string> tried,
                 const error_code& last)
{
    const std::string cause = cause_text(last);
    std::string message = "cannot connect to " + to_string(where) + ": " + cause;
    if (tried.size() > 1)
        message += " (tried " + list_of(tried) + ')';
    return about(where, errc::connect_failed, message).with_context("cause", cause);
}

error took_too_long(const destination& where, std::span<const std::string> tried,
                    const error_code& last)
{
    const std::string message = "cannot connect to " + to_string(where) + " in time: ";
    if (tried.empty())
        return about(where, errc::connect_timed_out, message + "there was none left");
    if (!last)
        return about(where, errc::connect_timed_out, message + "no answer from " + list_of(tried));
    const std::string cause = cause_text(last);
    return about(where, errc::connect_timed_out,
                 message + cause + " (tried " + list_of(tried) + ')')
        .with_context("cause", cause);
}

error was_cancelled(const destination& where)
{
    return about(where, errc::cancelled, "connecting to " + to_string(where) + " was cancelled");
}

error not_resolved(const destination& where, const error& why)
{
    const std::string_view cause = why.context("cause");
    return error{why.code(), "cannot connect to " + to_string(where) + ": " + why.message()}
        .with_context("server", to_string(where))
        .with_context("phase", runtime::phase_resolve)
        .with_context("cause", cause.empty() ? why.message() : std::string{cause});
}

error cannot_listen(const destination& where, const std::string& cause)
{
    return error{make_error_code(errc::listen_failed),
                 "cannot listen at " + to_string(where) + ": " + cause}
        .with_context("server", to_string(where))
        .with_context("cause", cause);
}

}  // namespace holdfast::net
