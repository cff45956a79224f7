#pragma once
#include "holdfast/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
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
namespace holdfast {

namespace asio = boost::asio;

/// The token that is used when none is given.
struct throw_on_error {};

namespace completion_details {

template <class Token>
inline constexpr bool throws_on_error = std::same_as<std::remove_cvref_t<Token>, throw_on_error>;
template <class Token>
inline constexpr bool awaits = throws_on_error<Token> ||
                               std::same_as<std::remove_cvref_t<Token>, asio::use_awaitable_t<>>;

template <class Outcome>
inline constexpr bool is_asio_awaitable = false;
template <class T, class Executor>
inline constexpr bool is_asio_awaitable<asio::awaitable<T, Executor>> = true;

/// Whether what a call returned can be the operand of co_await: an awaitable, the operation of
/// asio::deferred, or an awaiter of another library.
template <class Outcome>
concept can_be_awaited =
    !std::is_void_v<Outcome> &&
    (is_asio_awaitable<Outcome> || asio::is_async_operation<Outcome>::value ||
     requires(Outcome&& one) { std::forward<Outcome>(one).operator co_await(); } ||
     requires(Outcome&& one) { one.await_ready(); });

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
inline constexpr bool destroys_awaited_aggregates_twice = true;
#else
inline constexpr bool destroys_awaited_aggregates_twice = false;
#endif

/// `Argument` is deduced from a forwarding reference: no reference means a temporary, or a value
/// that was moved, which looks the same.
template <class Argument>
inline constexpr bool is_owning_temporary = !std::is_reference_v<Argument> &&
                                            std::is_aggregate_v<Argument> &&
                                            !std::is_trivially_destructible_v<Argument>;

/// Refuses arguments that g++ 12 would destroy twice, if the call may be part of a co_await.
template <class Outcome, class... Arguments>
constexpr void refuse_awaited_temporaries()
{
    static_assert(!destroys_awaited_aggregates_twice || !can_be_awaited<Outcome> ||
                      !(is_owning_temporary<Arguments> || ...),
                  "g++ 12 destroys this temporary twice: give the struct a name before the "
                  "co_await, and pass it without std::move");
}

/// co_spawn wants a value that can be made of nothing.
template <class T>
asio::awaitable<std::optional<result<T>>> as_optional(asio::awaitable<result<T>> what)
{
    // A cancelled operation is a failed one; Asio would throw out of the next co_await.
    co_await asio::this_coro::throw_if_cancelled(false);
    auto outcome = co_await std::move(what);
    co_return std::optional<result<T>>{std::move(outcome)};
}

/// What co_spawn calls at the end, and what it takes until then: the handler, and work for the
/// handler's own executor, whose context must not end before.
template <class Outcome, class Handler, class Executor>
class completion {
public:
    completion(Handler handler, const asio::any_io_executor& on, const Executor& to)
        : handler_{std::make_shared<Handler>(std::move(handler))}, to_{to}
    {
        auto slot = asio::get_associated_cancellation_slot(*handler_);
        if (!slot.is_connected())
            return;
        // Posted, so that nothing is cancelled before it has begun, or by another thread.
        stop_ = std::make_shared<asio::cancellation_signal>();
        slot.assign([on, stop = stop_](asio::cancellation_type type) {
            asio::post(on, [stop, type] { stop->emit(type); });
        });
    }

    // Not by bind_cancellation_slot(): with that, co_spawn passes on what may be gone by then.
    using cancellation_slot_type = asio::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept
    {
        return stop_ ? stop_->slot() : cancellation_slot_type{};
    }

    void operator()(const std::exception_ptr& thrown, std::optional<Outcome> outcome)
    {
        if (thrown)
            std::rethrow_exception(thrown);
        asio::dispatch(to_.get_executor(), [kept = handler_, outcome = *std::move(outcome),
                                            stoppable = stop_ != nullptr]() mutable {
            if (stoppable)
                asio::get_associated_cancellation_slot(*kept).clear();
            auto call = std::move(*kept);
            std::move(call)(std::move(outcome));
        });
    }

private:
    std::shared_ptr<Handler> handler_;
    asio::executor_work_guard<Executor> to_;
    std::shared_ptr<asio::cancellation_signal> stop_;
};

}  // namespace completion_details

/// What the coroutine of an operation returns for a token: T, or a result<T> that does not throw.
template <class T, class Token>
using completion_result_t =
    std::conditional_t<completion_details::throws_on_error<Token>, T, result<T>>;

/// Hands the outcome to the token. The coroutine runs on `on`, the client's executor, whatever the
/// handler's may be: that of a future is a thread pool of Asio's.
template <class Outcome, class Token>
auto initiate(const asio::any_io_executor& on, asio::awaitable<Outcome> what, Token&& token)
{
    if constexpr (completion_details::awaits<Token>) {
        return what;
    } else {
        return asio::async_initiate<Token, void(Outcome)>(
            [on](auto handler, asio::awaitable<Outcome> running) {
                const auto to = asio::get_associated_executor(handler, on);
                using executor = std::remove_const_t<decltype(to)>;
                asio::co_spawn(on, completion_details::as_optional(std::move(running)),
                               completion_details::completion<Outcome, decltype(handler), executor>{
                                   std::move(handler), on, to});
            },
            token, std::move(what));
    }
}

}  // namespace holdfast
