#pragma once
#include "holdfast/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

/// How an operation gives its outcome back. Every operation takes a completion token as its last
/// argument:
///   nothing               an awaitable<T> that throws `failure`
///   asio::use_awaitable   an awaitable<result<T>>, which does not throw
///   any other of Asio's   the signature is void(result<T>): callbacks, use_future, deferred ...
namespace holdfast::mongo {

namespace asio = boost::asio;

/// The token that is used when none is given.
struct throwing {};

namespace details {

template <class Token>
inline constexpr bool is_throwing = std::same_as<std::remove_cvref_t<Token>, throwing>;
template <class Token>
inline constexpr bool awaits = is_throwing<Token> ||
                               std::same_as<std::remove_cvref_t<Token>, asio::use_awaitable_t<>>;

/// What the coroutine of an operation returns, for a given token.
template <class T, class Token>
using given = std::conditional_t<is_throwing<Token>, T, result<T>>;

/// co_spawn wants a value that can be made of nothing.
template <class T>
asio::awaitable<std::optional<result<T>>> optionally(asio::awaitable<result<T>> what)
{
    auto outcome = co_await std::move(what);
    co_return std::optional<result<T>>{std::move(outcome)};
}

/// Hands the outcome to the token. The coroutine runs on `on`, the client's executor, whatever the
/// handler's may be: that of a future is a thread pool of Asio's.
template <class Given, class Token>
auto deliver(const asio::any_io_executor& on, asio::awaitable<Given> what, Token&& token)
{
    if constexpr (awaits<Token>) {
        return what;
    } else {
        return asio::async_initiate<Token, void(Given)>(
            [on](auto handler, asio::awaitable<Given> running) {
                auto kept = std::make_shared<decltype(handler)>(std::move(handler));
                const auto slot = asio::get_associated_cancellation_slot(*kept);
                const auto to = asio::get_associated_executor(*kept, on);
                auto finish = [kept, to](const std::exception_ptr& thrown,
                                         std::optional<Given> outcome) {
                    if (thrown)
                        std::rethrow_exception(thrown);
                    asio::dispatch(to, [kept, outcome = *std::move(outcome)]() mutable {
                        auto call = std::move(*kept);
                        std::move(call)(std::move(outcome));
                    });
                };
                asio::co_spawn(on, optionally(std::move(running)),
                               asio::bind_cancellation_slot(slot, std::move(finish)));
            },
            token, std::move(what));
    }
}

}  // namespace details

}  // namespace holdfast::mongo
