#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace holdfast::runtime {

namespace asio = boost::asio;
using asio::awaitable;
using executor = asio::any_io_executor;

}  // namespace holdfast::runtime
