#include "net/connect.hpp"

#include "net/address.hpp"
#include "net/failures.hpp"
#include "net/socket_stream.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace holdfast::net {

using runtime::awaitable;
using runtime::destination;
using runtime::stream_ptr;

namespace {

/// A Unix socket whose queue is full refuses at once, and no event reports when that has changed.
constexpr auto full_queue_pause = std::chrono::milliseconds{5};

/// Unix sockets know at once. Not by Asio, which (1.81) takes a full queue for a connection.
error_code connect_at_once(stream_socket& socket, const stream_endpoint& target)
{
    error_code why;
    socket.native_non_blocking(true, why);
    if (why)
        return why;
    const auto size = static_cast<socklen_t>(target.size());
    if (::connect(socket.native_handle(), target.data(), size) != 0)
        why = {errno, asio::error::get_system_category()};
    return why;
}

/// Attempts that run side by side. Owned by the coroutine that connects and by the attempts, which
/// may all end in different threads. They only say what came of them; all else is done by the
/// coroutine.
class race : public std::enable_shared_from_this<race> {
public:
    explicit race(const connector& with) : with_{with}, news_{with.in} {}

    void start(const stream_endpoint& target, std::string name)
    {
        stream_socket socket{with_.in.executor()};
        error_code why;
        socket.open(target.protocol(), why);
        if (why)
            return lost(why);
        prepare_socket(socket);
        const bool local = target.protocol().family() == AF_UNIX;
        if (local)
            why = connect_at_once(socket, target);
        if (why)
            return lost(why);
        attempts_.push_back(std::make_unique<socket_stream>(std::move(socket), std::move(name),
                                                            with_.in.shared_alarms(), with_.at));
        const std::size_t number = attempts_.size() - 1;
        {
            const std::scoped_lock lock{mutex_};
            ++now_.running;
        }
        if (local)
            return ended(number, {});
        attempts_.back()->connect(target, [self = shared_from_this(), number](error_code end) {
            self->ended(number, end);
        });
    }

    /// The connection, if there is one.
    stream_ptr winner()
    {
        std::optional<std::size_t> number;
        {
            const std::scoped_lock lock{mutex_};
            number = winner_;
        }
        if (!number)
            return nullptr;
        return std::move(attempts_[*number]);
    }

    struct standing {
        std::size_t running = 0;
        std::size_t lost = 0;
        error_code last = {};  // of those that lost
    };
    standing now() const
    {
        const std::scoped_lock lock{mutex_};
        return now_;
    }

    /// Closes all that are still running, or have come too late.
    void close() noexcept { attempts_.clear(); }

    runtime::event& news() noexcept { return news_; }

private:
    void ended(std::size_t number, const error_code& why)
    {
        {
            const std::scoped_lock lock{mutex_};
            --now_.running;
            if (!why && !winner_)
                winner_ = number;
            if (why)
                now_ = {now_.running, now_.lost + 1, why};
        }
        news_.notify();
    }
    void lost(const error_code& why)
    {
        const std::scoped_lock lock{mutex_};
        now_ = {now_.running, now_.lost + 1, why};
    }

    const connector with_;
    runtime::event news_;
    std::vector<std::unique_ptr<socket_stream>> attempts_;  // the coroutine's alone

    mutable std::mutex mutex_;
    std::optional<std::size_t> winner_;
    standing now_;
};

}  // namespace

awaitable<result<stream_ptr>> connect_to_any(connector with, destination where,
                                             std::vector<stream_endpoint> targets, time_point until)
{
    std::vector<std::string> names;
    for (const auto& one : targets)
        names.push_back(where.is_path() ? where.host : describe(one));
    const auto side_by_side = std::make_shared<race>(with);
    struct closing {
        race& all;
        ~closing() { all.close(); }  // also if this coroutine is destroyed with its executor
    };
    const closing at_the_end{*side_by_side};
    std::size_t started = 0;
    std::size_t lost_before = 0;  // when the last one was started
    time_point next_start{};
    for (;;) {
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none)
            co_return was_cancelled(where);
        const auto seen = side_by_side->news().count();
        if (stream_ptr won = side_by_side->winner())
            co_return std::move(won);
        const auto standing = side_by_side->now();
        const time_point now = with.in.steady_now();
        if (now >= until)
            co_return took_too_long(where, std::span{names}.first(started), standing.last);
        if (started == targets.size() && standing.running == 0) {
            if (!where.is_path() || standing.last != asio::error::try_again)
                co_return all_failed(where, names, standing.last);
            started = 0;  // the same one once more
            lost_before = standing.lost;
            next_start = now + full_queue_pause;
        }
        const bool more = started < targets.size();
        if (more && (now >= next_start || standing.lost > lost_before)) {
            lost_before = standing.lost;
            next_start = now + with.head_start;
            side_by_side->start(targets[started], names[started]);
            ++started;
            continue;
        }
        const time_point wake = more ? std::min(next_start, until) : until;
        const auto end = co_await side_by_side->news().wait(seen, wake);
        if (end == runtime::wait_end::cancelled)
            co_return was_cancelled(where);
    }
}

}  // namespace holdfast::net
