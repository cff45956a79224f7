#include "net/blocking/connect.hpp"

#include "net/address.hpp"
#include "net/blocking/stream.hpp"
#include "net/failures.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::net {
namespace {

/// A Unix socket whose queue is full refuses at once, and no event reports when that has changed.
constexpr auto full_queue_pause = std::chrono::milliseconds{5};

class race {
public:
    race(const runtime::destination& where, const std::vector<stream_endpoint>& endpoints,
         duration head_start, time_point until, const wake_up& cancel)
        : where_{where},
          endpoints_{endpoints},
          head_start_{head_start},
          until_{until},
          cancel_{cancel}
    {
    }

    result<runtime::stream_ptr> run()
    {
        while (!winner_) {
            const bool more = next_ < endpoints_.size();
            const time_point now = std::chrono::steady_clock::now();
            if (cancel_.awake())
                return was_cancelled(where_);
            if (!more && running_.empty())
                return all_failed(where_, tried_, last_);
            if (now >= until_)
                return took_too_long(where_, tried_, last_);
            if (more && now >= next_start_)
                start(endpoints_[next_], now);
            else
                wait(more ? std::min(until_, next_start_) : until_);
        }
        return runtime::stream_ptr{
            std::make_unique<blocking_stream>(std::move(winner_->socket), winner_->peer)};
    }

private:
    struct runner {
        descriptor socket;
        std::string peer;
    };

    void start(const stream_endpoint& to, time_point now)
    {
        if (tried_.size() == next_)
            tried_.push_back(where_.is_path() ? where_.host : describe(to));
        descriptor socket{
            ::socket(to.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        int number = socket ? 0 : errno;
        if (socket) {
            set_connection_options(socket.get());
            if (::connect(socket.get(), to.data(), static_cast<socklen_t>(to.size())) != 0)
                number = errno;
        }
        if (number == EAGAIN && where_.is_path()) {
            next_start_ = now + full_queue_pause;
            last_ = {number, boost::system::system_category()};
            return;  // the same one once more
        }
        runner started{std::move(socket), tried_[next_++]};
        if (number == 0) {
            win(std::move(started));
        } else if (number == EINPROGRESS || number == EINTR) {
            running_.push_back(std::move(started));
            next_start_ = now + head_start_;
        } else {
            lose(number);
        }
    }

    void wait(time_point until)
    {
        std::vector<pollfd> all;
        all.push_back({cancel_.get(), POLLIN, 0});
        for (const runner& one : running_)
            all.push_back({one.socket.get(), POLLOUT, 0});
        poll_until(all, until);
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (all[i].revents != 0)
                return arrive(i - 1);  // others that are ready will still be so
        }
    }

    void arrive(std::size_t which)
    {
        runner first = std::move(running_[which]);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
        int number = 0;
        socklen_t size = sizeof number;
        ::getsockopt(first.socket.get(), SOL_SOCKET, SO_ERROR, &number, &size);
        if (number == 0)
            win(std::move(first));
        else
            lose(number);
    }

    void win(runner who)
    {
        const int flags = ::fcntl(who.socket.get(), F_GETFL);
        ::fcntl(who.socket.get(), F_SETFL, flags & ~O_NONBLOCK);
        winner_ = std::move(who);
    }

    void lose(int number)
    {
        last_ = {number, boost::system::system_category()};
        next_start_ = {};  // the next one need not wait for one that is out
    }

    const runtime::destination& where_;
    const std::vector<stream_endpoint>& endpoints_;
    const duration head_start_;
    const time_point until_;
    const wake_up& cancel_;

    std::size_t next_ = 0;            // of the endpoints
    std::vector<std::string> tried_;  // those before the next one, as people know them
    time_point next_start_{};
    std::vector<runner> running_;  // in the order in which they started
    std::optional<runner> winner_;
    error_code last_;  // why the last one that failed did so
};

}  // namespace

result<runtime::stream_ptr> connect_blocking(const runtime::destination& where,
                                             const std::vector<stream_endpoint>& endpoints,
                                             duration head_start, time_point until,
                                             const wake_up& cancel)
{
    return race{where, endpoints, head_start, until, cancel}.run();
}

}  // namespace holdfast::net
