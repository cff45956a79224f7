#include "net/blocking/adopt.hpp"

#include "net/blocking/stream.hpp"
#include "net/socket_stream.hpp"
#include "net/tls/stream.hpp"

#include <fcntl.h>

#include <utility>

namespace holdfast::net {

runtime::stream_ptr make_blocking(runtime::stream_ptr from)
{
    if (auto* const secured = dynamic_cast<tls_stream*>(from.get())) {
        secured->replace_under(make_blocking);
        return from;
    }
    auto* const asynchronous = dynamic_cast<socket_stream*>(from.get());
    if (asynchronous == nullptr)
        return from;
    descriptor socket{asynchronous->release()};
    if (socket)
        ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
    return std::make_unique<blocking_stream>(std::move(socket), from->peer());
}

}  // namespace holdfast::net
