#include "net/address.hpp"
#include "net/failures.hpp"
#include "net/socket_listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace holdfast::net {

using runtime::destination;

socket_file::socket_file(std::string path) : path_{std::move(path)}
{
    struct ::stat found{};
    if (::lstat(path_.c_str(), &found) == 0) {
        device_ = found.st_dev;
        number_ = found.st_ino;
    }
}

socket_file::socket_file(socket_file&& other) noexcept
    : path_{std::exchange(other.path_, {})}, device_{other.device_}, number_{other.number_}
{
}

socket_file::~socket_file()
{
    struct ::stat found{};
    if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
        found.st_ino == number_)
        ::unlink(path_.c_str());
}

void socket_file::remove_stale(const std::string& path) noexcept
{
    struct ::stat found{};
    const auto endpoint = unix_endpoint(path);
    if (!endpoint || ::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode))
        return;
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return;
    const int end = ::connect(probe, endpoint->data(), static_cast<socklen_t>(endpoint->size()));
    if (end != 0 && errno == ECONNREFUSED)  // no process listens
        ::unlink(path.c_str());
    ::close(probe);
}

result<runtime::listener_ptr> listen_at(runtime::world& in, std::shared_ptr<context_registry> at,
                                        const destination& where)
{
    const auto endpoint = listening_endpoint(where);
    if (!endpoint)
        return endpoint.error();
    stream_acceptor acceptor{in.executor()};
    error_code why;
    acceptor.open(endpoint->protocol(), why);
    if (why)
        return cannot_listen(where, cause_text(why));
    ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    if (where.is_path())
        socket_file::remove_stale(where.host);
    else
        acceptor.set_option(asio::socket_base::reuse_address{true}, why);
    acceptor.bind(*endpoint, why);
    if (why)
        return cannot_listen(where, cause_text(why));
    socket_file file = where.is_path() ? socket_file{where.host} : socket_file{};
    acceptor.listen(asio::socket_base::max_listen_connections, why);
    if (why)
        return cannot_listen(where, cause_text(why));
    return runtime::listener_ptr{std::make_unique<socket_listener>(
        in, std::move(at), std::move(acceptor), to_string(where), std::move(file))};
}

}  // namespace holdfast::net
