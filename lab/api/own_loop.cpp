#include "lab/api/own_loop.hpp"

#include "net/world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <future>
#include <thread>
#include <utility>

namespace holdfast::lab {

namespace asio = boost::asio;

struct own_loop::parts {
    parts() : work{loop.get_executor()}, world{loop.get_executor()}, thread{[this] { loop.run(); }}
    {
    }
    ~parts()
    {
        work.reset();
        loop.stop();
        thread.join();
    }

    asio::io_context loop{1};
    asio::executor_work_guard<asio::io_context::executor_type> work;
    net::async_world world;
    std::thread thread;
};

own_loop::own_loop() : parts_{std::make_unique<parts>()} {}
own_loop::~own_loop() = default;

runtime::world& own_loop::world() noexcept
{
    return parts_->world;
}

void own_loop::run(runtime::awaitable<void> what)
{
    asio::co_spawn(parts_->loop, std::move(what), asio::use_future).get();
}

void own_loop::call(const std::function<void()>& what)
{
    std::promise<void> done;
    asio::post(parts_->loop, [&] {
        try {
            what();
            done.set_value();
        } catch (...) {
            done.set_exception(std::current_exception());
        }
    });
    done.get_future().get();
}

}  // namespace holdfast::lab
