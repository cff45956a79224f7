#pragma once
#include "net/blocking/world.hpp"
#include "net/world.hpp"
#include "support/dns_stub.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::proof {

namespace asio = boost::asio;

enum class dns_driver { asynchronous, blocking };

inline std::string name_of_driver(const ::testing::TestParamInfo<dns_driver>& which)
{
    return which.param == dns_driver::blocking ? "blocking" : "asynchronous";
}

template <class T>
using answer_of = result<std::vector<T>>;

/// A world of the given kind whose name server is the stub.
class dns_party {
public:
    explicit dns_party(dns_driver kind) : kind_{kind} { settings.dns.servers = {stub.address()}; }
    ~dns_party() { async_.reset(); }

    runtime::world& world()
    {
        if (kind_ == dns_driver::blocking && !blocking_)
            blocking_ = std::make_unique<net::blocking_world>(settings);
        if (kind_ == dns_driver::asynchronous && !async_)
            async_ = std::make_unique<net::async_world>(context.get_executor(), settings);
        return kind_ == dns_driver::blocking ? static_cast<runtime::world&>(*blocking_) : *async_;
    }

    /// Waits for it alone: the clock of the world may be set for later.
    template <class T>
    T run(runtime::awaitable<T> what)
    {
        if (kind_ == dns_driver::blocking)
            return blocking_->run(std::move(what));
        std::optional<T> got;
        asio::co_spawn(context, std::move(what), [&got](std::exception_ptr thrown, T value) {
            EXPECT_FALSE(thrown);
            got.emplace(std::move(value));
        });
        while (!got && context.run_one() != 0) {}
        context.poll();  // nothing of it may be left
        context.restart();
        return *std::move(got);
    }

    answer_of<std::string> addresses(std::string host, duration limit = std::chrono::seconds{10})
    {
        runtime::world& in = world();
        return run(optional(in.resolve(std::move(host), in.steady_now() + limit))).value();
    }
    answer_of<runtime::srv_record> srv(std::string name, duration limit = std::chrono::seconds{10})
    {
        runtime::world& in = world();
        return run(optional(in.resolve_srv(std::move(name), in.steady_now() + limit))).value();
    }
    answer_of<std::string> txt(std::string name, duration limit = std::chrono::seconds{10})
    {
        runtime::world& in = world();
        return run(optional(in.resolve_txt(std::move(name), in.steady_now() + limit))).value();
    }

    dns_stub stub;
    net::world_settings settings;
    asio::io_context context;

private:
    /// co_spawn() wants a value that can be made from nothing.
    template <class T>
    static runtime::awaitable<std::optional<T>> optional(runtime::awaitable<T> what)
    {
        T value = co_await std::move(what);
        co_return std::optional<T>{std::move(value)};
    }

    dns_driver kind_;
    std::unique_ptr<net::blocking_world> blocking_;
    std::unique_ptr<net::async_world> async_;
};

template <class T>
std::string code_of(const result<T>& got)
{
    return got ? "no error" : got.error().code().message();
}

inline std::string text_of(runtime::errc code)
{
    return runtime::make_error_code(code).message();
}

inline std::ptrdiff_t entries_of(const char* folder)
{
    const std::filesystem::directory_iterator all{folder};
    return std::distance(begin(all), end(all));
}
inline std::ptrdiff_t threads()
{
    return entries_of("/proc/self/task");
}
inline std::ptrdiff_t open_files()
{
    return entries_of("/proc/self/fd");
}

}  // namespace holdfast::proof
