#pragma once
#include "net/world.hpp"
#include "support/other_world.hpp"
#include "support/scripted_server.hpp"
#include "support/scripted_set.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace holdfast::proof {

/// A scripted replica set of one member, on a socket and on a thread of its own.
class socket_server {
public:
    socket_server()
    {
        script_.on("endSessions", [](bson::view) { return bson::doc("ok", 1.0); });
        script_.on("insert", [](bson::view) { return bson::doc("n", 1, "ok", 1.0); });
        script_.on_hello(
            [this](const scripted_command&) { return scripted_reply{set.hello_of(address())}; });
        boost::asio::co_spawn(context_, script_.serve(world_, {"127.0.0.1", 0}),
                              boost::asio::detached);
        while (world_.port == 0 && context_.run_one() > 0) {}
        set.hosts = {address()};
        set.primary = address();
        thread_ = std::thread{[this] { context_.run(); }};
    }
    socket_server(const socket_server&) = delete;
    socket_server& operator=(const socket_server&) = delete;
    ~socket_server()
    {
        ask([](scripted_server& script) {
            script.stop_listening();
            script.drop_connections();
        });
        thread_.join();
    }

    std::string address() const { return "127.0.0.1:" + std::to_string(world_.port); }
    std::string uri(const std::string& more = {}) const
    {
        return "mongodb://" + address() + "/?replicaSet=rs" + more;
    }

    /// Calls it on the server's thread, and waits for what it gives.
    template <class What>
    std::invoke_result_t<What, scripted_server&> ask(What&& what)
    {
        std::packaged_task<std::invoke_result_t<What, scripted_server&>()> task{
            [this, &what] { return what(script_); }};
        auto answer = task.get_future();
        boost::asio::post(context_, [&task] { task(); });
        return answer.get();
    }
    std::size_t count(std::string_view command)
    {
        return ask([command](scripted_server& script) { return script.count(command); });
    }
    std::vector<scripted_command> commands(std::string_view name)
    {
        return ask([name](scripted_server& script) { return script.commands(name); });
    }
    std::size_t open_connections()
    {
        return ask([](scripted_server& script) { return script.open_connections(); });
    }

    scripted_set set;  // by its own thread only, once clients have come

private:
    /// Remembers which port it was given.
    class port_world final : public other_world {
    public:
        using other_world::other_world;
        result<runtime::listener_ptr> listen(runtime::destination where) override
        {
            auto made = other_world::listen(std::move(where));
            if (made)
                port = (*made)->port();
            return made;
        }
        std::uint16_t port = 0;
    };

    boost::asio::io_context context_;
    net::async_world sockets_{context_.get_executor()};
    port_world world_{sockets_};
    scripted_server script_;
    std::thread thread_;
};

}  // namespace holdfast::proof
