#include "net/socket_listener.hpp"

#include "net/address.hpp"
#include "net/socket_stream.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <chrono>
#include <utility>

namespace holdfast::net {

using runtime::awaitable;
using runtime::errc;
using runtime::stream_ptr;

struct socket_listener::accepted {
    error_code why;
    std::optional<stream_socket> connection;
};

template <class Handler>
struct socket_listener::completion {
    using executor_type = typename Handler::executor_type;
    using cancellation_slot_type = typename Handler::cancellation_slot_type;

    Handler to_resume;

    executor_type get_executor() const noexcept { return to_resume.get_executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept
    {
        return to_resume.get_cancellation_slot();
    }
    void operator()(const error_code& why, stream_socket connection)
    {
        accepted what{why, std::nullopt};
        if (!why)
            what.connection = std::move(connection);
        std::move(to_resume)(std::move(what));
    }
};

/// As for a stream: begun under the mutex, and nothing is touched after the unlock.
struct socket_listener::start {
    template <class Handler>
    void operator()(Handler to_resume, socket_listener* self) const
    {
        const bool late = to_resume.get_cancellation_state().cancelled() !=
                          asio::cancellation_type::none;
        std::unique_lock lock{self->mutex_};
        if (!late && !self->cancelled_)
            return self->acceptor_->async_accept(completion<Handler>{std::move(to_resume)});
        lock.unlock();
        const auto here = asio::get_associated_executor(to_resume);
        asio::post(here, [to_resume = std::move(to_resume)]() mutable {
            std::move(to_resume)(accepted{asio::error::operation_aborted, std::nullopt});
        });
    }
};

namespace {

/// What accept() says about one connection, or about a shortage that may pass; the next one may
/// well come through.
bool is_passing(const error_code& why) noexcept
{
    if (why.category() != asio::error::get_system_category())
        return false;
    switch (why.value()) {
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        return true;
    default:
        return false;
    }
}

constexpr auto short_pause = std::chrono::milliseconds{20};

}  // namespace

socket_listener::socket_listener(runtime::world& in, std::shared_ptr<context_registry> at,
                                 stream_acceptor from, std::string name, socket_file file)
    : context_bound{at},
      in_{in},
      at_{std::move(at)},
      name_{std::move(name)},
      file_{std::move(file)},
      acceptor_{std::move(from)}
{
    error_code ignored;
    port_ = port_of(acceptor_->local_endpoint(ignored));
    register_self();
}

socket_listener::~socket_listener()
{
    unregister();
    const std::scoped_lock lock{mutex_};
    acceptor_.reset();
}

awaitable<result<stream_ptr>> socket_listener::accept()
{
    for (;;) {
        constexpr start begin;
        accepted next =
            co_await asio::async_initiate<const asio::use_awaitable_t<>, void(accepted)>(
                begin, asio::use_awaitable, this);
        if (!next.why)
            co_return make_stream(std::move(*next.connection));
        auto end = runtime::wait_end::cancelled;
        if (is_passing(next.why))
            end = co_await runtime::sleep_until(in_, in_.steady_now() + short_pause);
        else if (next.why != asio::error::operation_aborted)
            co_return error{next.why,
                            "cannot accept connections at " + name_ + ": " + cause_text(next.why)};
        if (end == runtime::wait_end::cancelled)
            co_return error{make_error_code(errc::cancelled),
                            "accepting connections at " + name_ + " was cancelled"};
    }
}

stream_ptr socket_listener::make_stream(stream_socket from) const
{
    error_code unknown;
    const auto peer = from.remote_endpoint(unknown);
    std::string name = file_.path();  // its clients have no address of their own
    if (name.empty())
        name = unknown ? "a client that has gone" : describe(peer);
    prepare_socket(from);
    return std::make_unique<socket_stream>(std::move(from), std::move(name), in_.shared_alarms(),
                                           at_);
}

void socket_listener::cancel() noexcept
{
    const std::scoped_lock lock{mutex_};
    cancelled_ = true;
    error_code ignored;
    if (acceptor_)
        acceptor_->cancel(ignored);
}

void socket_listener::context_gone() noexcept
{
    const std::scoped_lock lock{mutex_};
    cancelled_ = true;
    acceptor_.reset();
}

}  // namespace holdfast::net
