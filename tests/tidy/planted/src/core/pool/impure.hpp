#pragma once
#include <boost/asio/awaitable.hpp>  // offence: purity
#include <atomic>                    // offence: purity
#include <chrono>
#include <condition_variable>        // offence: purity
#include <mutex>                     // offence: purity
#include <random>                    // offence: purity
#include <thread>                    // offence: purity

// A comment may speak of co_await, std::mutex and time(nullptr); and so may a text.
inline const char* text = "std::random_device and steady_clock::now() and \" co_await";
inline auto a = std::chrono::steady_clock::now();  // offence: purity
inline auto b = std::random_device{}();            // offence: purity
inline auto c = RAND_bytes(nullptr, 0);            // offence: purity
inline auto d = getenv("HOME");                    // offence: purity
inline auto e = time(nullptr);                     // offence: purity
inline auto f = deadline.time() + downtime(3);
inline auto g()
{
    co_await h();  // offence: purity
}
std::set<connection*> by_address;  // offence: order
std::map<std::string, connection*> by_name;
