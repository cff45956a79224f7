#include "net/blocking/listener.hpp"

#include "net/address.hpp"
#include "net/blocking/descriptor.hpp"
#include "net/blocking/stream.hpp"
#include "net/failures.hpp"
#include "net/socket_listener.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace holdfast::net {

namespace {

constexpr auto breath = std::chrono::milliseconds{20};

/// Descriptors or memory have run out, which mostly passes.
bool is_shortage(int number) noexcept
{
    return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

/// The listening socket itself is no good; anything else is about one connection.
bool is_final(int number) noexcept
{
    return number == EBADF || number == EINVAL || number == ENOTSOCK || number == EFAULT;
}

class blocking_listener final : public runtime::listener {
public:
    blocking_listener(std::string name, descriptor socket, std::uint16_t port, socket_file file)
        : name_{std::move(name)}, socket_{std::move(socket)}, port_{port}, file_{std::move(file)}
    {
    }

    runtime::awaitable<result<runtime::stream_ptr>> accept() override
    {
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            co_return cancelled();
        co_return accept_here();
    }
    bool can_be_cancelled() const noexcept { return static_cast<bool>(end_); }
    void cancel() noexcept override { end_.wake(); }
    std::uint16_t port() const noexcept override { return port_; }

private:
    result<runtime::stream_ptr> accept_here()
    {
        for (;;) {
            pollfd both[] = {{socket_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
            poll_until(both, runtime::never);
            if (end_.awake())
                return cancelled();
            stream_endpoint from;
            auto size = static_cast<socklen_t>(from.capacity());
            descriptor taken{::accept4(socket_.get(), from.data(), &size, SOCK_CLOEXEC)};
            if (taken) {
                from.resize(size);
                set_connection_options(taken.get());
                const std::string& path = file_.path();
                return runtime::stream_ptr{std::make_unique<blocking_stream>(
                    std::move(taken), path.empty() ? describe(from) : path)};
            }
            const error_code why = last_error();
            if (is_final(why.value()))
                return error{why, "cannot accept connections at " + name_ + ": " + cause_text(why)};
            if (is_shortage(why.value()))
                poll_until({both + 1, 1}, std::chrono::steady_clock::now() + breath);
        }
    }

    error cancelled() const
    {
        return {runtime::errc::cancelled, "accepting connections at " + name_ + " was cancelled"};
    }

    const std::string name_;
    const descriptor socket_;
    const std::uint16_t port_;
    const socket_file file_;
    wake_up end_;
};

std::uint16_t bound_port(int listening) noexcept
{
    stream_endpoint at;
    auto size = static_cast<socklen_t>(at.capacity());
    if (::getsockname(listening, at.data(), &size) != 0)
        return 0;
    at.resize(size);
    return port_of(at);
}

}  // namespace

result<runtime::listener_ptr> make_blocking_listener(const runtime::destination& where)
{
    const auto at = listening_endpoint(where);
    if (!at)
        return at.error();
    descriptor socket{
        ::socket(at->protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int yes = 1;
    if (where.is_path())
        socket_file::remove_stale(where.host);
    else
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!socket || ::bind(socket.get(), at->data(), static_cast<socklen_t>(at->size())) != 0)
        return cannot_listen(where, cause_text(last_error()));
    socket_file file = where.is_path() ? socket_file{where.host} : socket_file{};
    if (::listen(socket.get(), SOMAXCONN) != 0)
        return cannot_listen(where, cause_text(last_error()));
    const std::uint16_t port = bound_port(socket.get());
    auto made = std::make_unique<blocking_listener>(to_string(where), std::move(socket), port,
                                                    std::move(file));
    if (!made->can_be_cancelled())
        return cannot_listen(where, "there is no descriptor left");
    return runtime::listener_ptr{std::move(made)};
}

}  // namespace holdfast::net
