#pragma once
#include "runtime/world.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::net {

struct dns_settings {
    /// "127.0.0.1:5353", "[::1]:53": asked instead of those that the system names.
    std::vector<std::string> servers = {};

    /// How long to wait for one server's answer; twice as long at each further try.
    std::chrono::milliseconds timeout{2'000};
    int tries = 3;
};

/// Names to addresses, by c-ares. No thread is started: Asio's own resolver would start one.
/// Addresses, "localhost" and the hosts file need no name server. The three functions are those of
/// runtime::world, and keep its promises.
class resolver {
public:
    virtual ~resolver() = default;

    virtual runtime::awaitable<result<std::vector<std::string>>> addresses(std::string host,
                                                                           time_point until) = 0;
    virtual runtime::awaitable<result<std::vector<runtime::srv_record>>> srv(std::string name,
                                                                             time_point until) = 0;
    virtual runtime::awaitable<result<std::vector<std::string>>> txt(std::string name,
                                                                     time_point until) = 0;
};

/// Waits on the executor of `in`, which outlives it.
std::unique_ptr<resolver> make_async_resolver(runtime::world& in, const dns_settings& settings);

/// Blocks the calling thread, which must be the only one that uses it.
std::unique_ptr<resolver> make_blocking_resolver(runtime::world& in, const dns_settings& settings);

}  // namespace holdfast::net
