#include "net/blocking/stream.hpp"

#include "net/address.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;
using boost::system::errc::make_error_code;
using runtime::io_result;

namespace {

constexpr duration shortest_limit = std::chrono::milliseconds{20};
constexpr duration clock_tick = std::chrono::milliseconds{10};  // the longest one that kernels have

error_code timed_out()
{
    return make_error_code(boost::system::errc::timed_out);
}

error_code cancelled()
{
    return make_error_code(boost::system::errc::operation_canceled);
}

/// The code of a call that failed, and not because it would have had to wait.
error_code failure_of(int number)
{
    // The peer has not answered, for minutes. It must not look like a deadline: nothing more will
    // come from this connection.
    if (number == ETIMEDOUT)
        number = ECONNABORTED;
    return {number, boost::system::system_category()};
}

}  // namespace

blocking_stream::blocking_stream(descriptor socket, std::string peer)
    : socket_{std::move(socket)}, peer_{std::move(peer)}
{
}

runtime::awaitable<io_result> blocking_stream::read_some(std::span<std::uint8_t> into)
{
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return io_result{cancelled(), 0};
    co_return receive(into);
}

io_result blocking_stream::receive(std::span<std::uint8_t> into)
{
    bool limit_has_come = false;
    for (;;) {
        if (cancelled_.load(std::memory_order_acquire))
            return {cancelled(), 0};
        int flags = 0;
        if (until_ != runtime::never) {
            const duration left = time_left();
            if (left == duration{})
                return {timed_out(), 0};
            if (!limit_suffices(left, limit_has_come)) {
                flags = MSG_DONTWAIT;
                if (const error_code why = wait_for(POLLIN))
                    return {why, 0};
            }
        }
        const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), flags);
        if (got > 0)
            return {{}, static_cast<std::size_t>(got)};
        const int number = errno;
        if (cancelled_.load(std::memory_order_acquire))
            return {cancelled(), 0};
        if (got == 0)
            return {asio::error::eof, 0};
        if (number == EAGAIN) {
            limit_has_come = true;
            if (until_ == runtime::never)
                set_limit({});
        } else if (number != EINTR) {
            return {failure_of(number), 0};
        }
    }
}

/// Whether recv() can be left to itself: it will come back before the deadline.
bool blocking_stream::limit_suffices(duration left, bool has_come) noexcept
{
    if (limit_ != duration{}) {
        const bool short_enough = limit_ + limit_ / 8 + clock_tick <= left;
        if (short_enough && !has_come)
            return true;
        if (has_come && left < 2 * limit_)
            return false;
    }
    return left / 2 >= shortest_limit && set_limit(left / 2);
}

duration blocking_stream::time_left() const noexcept
{
    const time_point now = std::chrono::steady_clock::now();
    return until_ > now ? until_ - now : duration{};
}

bool blocking_stream::set_limit(duration limit) noexcept
{
    using namespace std::chrono;
    const auto rest = duration_cast<microseconds>(limit);
    timeval value{};
    value.tv_sec = static_cast<std::time_t>(rest / 1s);
    value.tv_usec = static_cast<suseconds_t>((rest % 1s).count());
    if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value) != 0)
        return false;
    limit_ = limit;
    return true;
}

io_result blocking_stream::write_now(std::span<const std::uint8_t> bytes)
{
    std::size_t sent = 0;
    if (until_ != runtime::never && time_left() == duration{})
        return {timed_out(), 0};  // the caller has gone
    while (sent < bytes.size()) {
        if (cancelled_.load(std::memory_order_acquire))
            return {cancelled(), sent};
        const auto rest = bytes.subspan(sent);
        const ssize_t went = ::send(socket_.get(), rest.data(), rest.size(),
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (went >= 0) {
            sent += static_cast<std::size_t>(went);
            continue;
        }
        const int number = errno;
        if (cancelled_.load(std::memory_order_acquire))
            return {cancelled(), sent};
        if (number == EAGAIN) {
            if (const error_code why = wait_for(POLLOUT))
                return {why, sent};
        } else if (number != EINTR) {
            return {failure_of(number), sent};
        }
    }
    return {{}, sent};
}

runtime::awaitable<error_code> blocking_stream::writable()
{
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return cancelled();
    const error_code why = wait_for(POLLOUT);
    if (cancelled_.load(std::memory_order_acquire))
        co_return cancelled();
    co_return why;
}

error_code blocking_stream::wait_for(short what) const
{
    pollfd self{socket_.get(), what, 0};
    if (poll_until({&self, 1}, until_))
        return {};  // also if it is broken: the call that follows says how
    return timed_out();
}

bool blocking_stream::peer_has_closed() noexcept
{
    return has_hung_up(socket_.get());
}

std::string blocking_stream::local() const
{
    return describe_local(socket_.get());
}

void blocking_stream::cancel() noexcept
{
    // A thread in recv(), send() or poll() wakes up by this, and finds the flag. The descriptor
    // stays open until the stream is destroyed, so that its number is not reused meanwhile.
    cancelled_.store(true, std::memory_order_release);
    ::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace holdfast::net
