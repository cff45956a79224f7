#pragma once
#include "holdfast/error.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast {

namespace asio = boost::asio;

/// What makes calls block: it runs the operations of the asynchronous client on the thread that
/// calls. Shared by a client and all that was made from it. Not for applications.
class blocking_bridge {
public:
    virtual ~blocking_bridge() = default;

    /// Waits until the deployment has been looked up; costs next to nothing once it has.
    virtual result<void> open() = 0;

    /// Carries out an operation, and gives its outcome.
    template <class T>
    result<T> wait(asio::awaitable<result<T>> what)
    {
        if (auto opened = open(); !opened)
            return std::move(opened).error();
        std::optional<result<T>> outcome;
        std::exception_ptr thrown;
        run_quiet(keep(std::move(what), outcome, thrown));
        if (thrown)
            std::rethrow_exception(thrown);
        return *std::move(outcome);
    }

    /// Runs a coroutine to its end on this thread.
    void run(asio::awaitable<void> what)
    {
        std::exception_ptr thrown;
        run_quiet(guard(std::move(what), thrown));
        if (thrown)
            std::rethrow_exception(thrown);
    }

protected:
    /// The same for a coroutine that does not throw.
    virtual void run_quiet(asio::awaitable<void> what) = 0;

private:
    template <class T>
    static asio::awaitable<void> keep(asio::awaitable<result<T>> what,
                                      std::optional<result<T>>& into, std::exception_ptr& thrown)
    {
        try {
            auto outcome = co_await std::move(what);
            into.emplace(std::move(outcome));
        } catch (...) {
            thrown = std::current_exception();
        }
    }
    static asio::awaitable<void> guard(asio::awaitable<void> what, std::exception_ptr& thrown)
    {
        try {
            co_await std::move(what);
        } catch (...) {
            thrown = std::current_exception();
        }
    }
};

/// A handle of the asynchronous client, and what its operations wait on. The handle always goes
/// first: the rest is what it lives on.
template <class Inner>
class blocking_handle {
protected:
    blocking_handle(std::shared_ptr<blocking_bridge> on, Inner inner)
        : bridge_{std::move(on)}, inner_{std::move(inner)}
    {
    }
    blocking_handle(const blocking_handle&) = default;
    blocking_handle(blocking_handle&&) noexcept = default;
    blocking_handle& operator=(const blocking_handle& other)
    {
        inner_ = other.inner_;
        bridge_ = other.bridge_;
        return *this;
    }
    blocking_handle& operator=(blocking_handle&& other) noexcept
    {
        inner_ = std::move(other.inner_);
        bridge_ = std::move(other.bridge_);
        return *this;
    }
    ~blocking_handle() = default;

    template <class T>
    result<T> wait(asio::awaitable<result<T>> what) const
    {
        return bridge_->wait(std::move(what));
    }

    std::shared_ptr<blocking_bridge> bridge_;
    Inner inner_;
};

}  // namespace holdfast
