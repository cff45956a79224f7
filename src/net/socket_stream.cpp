#include "net/socket_stream.hpp"

#include "net/address.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/errc.hpp>
#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace holdfast::net {

namespace system_errc = boost::system::errc;
using runtime::awaitable;
using runtime::io_result;

void prepare_socket(stream_socket& which) noexcept
{
    const int native = which.native_handle();
    ::fcntl(native, F_SETFD, FD_CLOEXEC);
    set_connection_options(native);
}

/// What Asio calls at the end of an operation. Passes on what the coroutine's own handler is
/// associated with.
template <class Handler>
struct socket_stream::completion {
    using executor_type = typename Handler::executor_type;
    using cancellation_slot_type = typename Handler::cancellation_slot_type;

    Handler to_resume;
    socket_stream* self;

    executor_type get_executor() const noexcept { return to_resume.get_executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept
    {
        return to_resume.get_cancellation_slot();
    }

    void operator()(const error_code& why, std::size_t bytes = 0)
    {
        io_result what{why, bytes};
        if (why) [[unlikely]] {
            what.why = self->as_our_error(why);
            self->at_end_ |= why == asio::error::eof;
        }
        std::move(to_resume)(what);
    }

    /// The coroutine does nothing but wait once it has called us: if the bytes were there already
    /// it goes on in this thread, and no other one has to be woken.
    friend bool asio_handler_is_continuation(completion*) { return true; }
};

/// Begins an operation when the coroutine is suspended. Another thread may resume it at once, and
/// it may destroy the stream, which waits for our mutex: so nothing is touched after the unlock.
struct socket_stream::start {
    template <class Handler>
    void operator()(Handler to_resume, socket_stream* self, std::span<std::uint8_t> into) const
    {
        if (to_resume.get_cancellation_state().cancelled() != asio::cancellation_type::none)
            return end_now(std::move(to_resume), make_error_code(system_errc::operation_canceled));
        std::unique_lock lock{self->mutex_};
        if (self->ended_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            const error_code why = self->why_ended();
            lock.unlock();
            return end_now(std::move(to_resume), why);
        }
        if (self->at_end_ && into.data() != nullptr) [[unlikely]] {
            lock.unlock();
            return end_now(std::move(to_resume), asio::error::eof);
        }
        completion<Handler> whole{std::move(to_resume), self};
        if (into.data() == nullptr)
            self->socket_->async_wait(stream_socket::wait_write, std::move(whole));
        else
            self->socket_->async_read_some(asio::buffer(into.data(), into.size()),
                                           std::move(whole));
    }

    template <class Handler>
    static void end_now(Handler to_resume, const error_code& why)
    {
        const auto here = asio::get_associated_executor(to_resume);
        asio::post(here, [to_resume = std::move(to_resume), why]() mutable {
            std::move(to_resume)(io_result{why, 0});
        });
    }
};

socket_stream::socket_stream(stream_socket from, std::string peer,
                             std::shared_ptr<runtime::alarm_clock> clock,
                             std::shared_ptr<context_registry> at)
    : context_bound{std::move(at)},
      native_{from.native_handle()},
      socket_{std::move(from)},
      clock_{std::move(clock)},
      peer_{std::move(peer)}
{
    register_self();
}

socket_stream::~socket_stream()
{
    unregister();
    if (deadline_.load(std::memory_order_relaxed) != runtime::never)
        clock_->clear(*this);
    const std::scoped_lock lock{mutex_};  // the start of what has just ended may not be over yet
    socket_.reset();
}

void socket_stream::connect(const stream_endpoint& to, std::function<void(error_code)> done)
{
    const std::scoped_lock lock{mutex_};
    if (socket_)
        socket_->async_connect(to, std::move(done));
}

/// No coroutine of our own, and so one frame and one resumption less: this is the hot path.
awaitable<io_result> socket_stream::read_some(std::span<std::uint8_t> into)
{
    return asio::async_initiate<const asio::use_awaitable_t<>, void(io_result)>(
        start{}, asio::use_awaitable, this, into);
}

awaitable<error_code> socket_stream::writable()
{
    constexpr start begin;
    const io_result what =
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void(io_result)>(
            begin, asio::use_awaitable, this, std::span<std::uint8_t>());
    co_return what.why;
}

io_result socket_stream::write_now(std::span<const std::uint8_t> bytes)
{
    if (ended_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        return {why_ended(), 0};
    ssize_t sent = -1;
    do
        sent = ::send(native_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) [[likely]]
        return {{}, static_cast<std::size_t>(sent)};
    if (errno == EAGAIN)
        return {make_error_code(system_errc::operation_would_block), 0};
    return {as_our_error({errno, asio::error::get_system_category()}), 0};
}

void socket_stream::expires_at(time_point when)
{
    if (when == deadline_.load(std::memory_order_relaxed))
        return;
    deadline_.store(when, std::memory_order_relaxed);
    clock_->set(*this, when);  // after this, it does not ring for the former time any more
    if ((ended_.load(std::memory_order_relaxed) & expired) != 0) [[unlikely]] {
        const std::scoped_lock lock{mutex_};
        if (std::chrono::steady_clock::now() < when)
            ended_.fetch_and(static_cast<std::uint8_t>(~expired), std::memory_order_relaxed);
    }
}

void socket_stream::ring() noexcept
{
    const std::scoped_lock lock{mutex_};
    // It may ring for the former time, while expires_at() is about to move it.
    if (std::chrono::steady_clock::now() >= deadline_.load(std::memory_order_relaxed))
        end_all(expired);
}

void socket_stream::cancel() noexcept
{
    const std::scoped_lock lock{mutex_};
    end_all(cancelled);
}

bool socket_stream::peer_has_closed() noexcept
{
    const std::scoped_lock lock{mutex_};
    return !socket_ || has_hung_up(native_);
}

std::string socket_stream::local() const
{
    const std::scoped_lock lock{mutex_};
    return socket_ ? describe_local(native_) : std::string{};
}

int socket_stream::release() noexcept
{
    const std::scoped_lock lock{mutex_};
    error_code failed;
    const int number = socket_ ? socket_->release(failed) : -1;
    return failed ? -1 : number;
}

void socket_stream::context_gone() noexcept
{
    const std::scoped_lock lock{mutex_};
    end_all(cancelled);
    socket_.reset();
}

void socket_stream::end_all(std::uint8_t because) noexcept
{
    ended_.fetch_or(because, std::memory_order_relaxed);
    error_code ignored;
    if (socket_)
        socket_->cancel(ignored);
}

error_code socket_stream::why_ended() const noexcept
{
    const bool only_late = ended_.load(std::memory_order_relaxed) == expired;
    return make_error_code(only_late ? system_errc::timed_out : system_errc::operation_canceled);
}

error_code socket_stream::as_our_error(const error_code& why) const noexcept
{
    if (why == asio::error::operation_aborted)
        return why_ended();
    // The system's timeout for a silent peer is no deadline of the caller: the connection is gone.
    if (why == asio::error::timed_out)
        return make_error_code(system_errc::connection_aborted);
    return why;
}

}  // namespace holdfast::net
