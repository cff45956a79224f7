#pragma once
#include "runtime/awaitable.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

namespace holdfast::net {

namespace asio = boost::asio;

/// TCP and Unix sockets differ in their addresses only, so one type serves for both.
using stream_socket = asio::generic::stream_protocol::socket;
using stream_acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using stream_endpoint = asio::generic::stream_protocol::endpoint;

}  // namespace holdfast::net
