#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/client_options.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::runtime {
class world;
}

namespace holdfast::mongo {

namespace asio = boost::asio;

struct client_parts;

/// A client of one deployment: pools of connections to its servers, and monitors that watch them,
/// all on the executor of the application; it starts no thread. A handle: copies are the same
/// client. May be used by several threads.
///
/// What gcc 12.2 makes of coroutines forces a rule on callers: name an aggregate with strings or
/// documents in it before the co_await that uses it.
class client {
public:
    /// Does no I/O; throws `failure` if the connection string cannot be understood. Call ready(),
    /// or just begin: the first operation waits until a server is found.
    client(asio::any_io_executor on, std::string_view uri, client_options options = {});

    /// The same without exceptions.
    static result<client> create(asio::any_io_executor on, std::string_view uri,
                                 client_options options = {});

    /// Sends a command as it is, to a database; `command` is copied before this returns. Awaiting
    /// it gives the reply, or throws `failure`.
    asio::awaitable<bson::document> run_command(std::string_view database, bson::view command,
                                                command_options options = {}) const;

    /// The same with any completion token; its signature is void(result<bson::document>).
    template <class Token>
    auto run_command(std::string_view database, bson::view command, command_options options,
                     Token&& token) const
    {
        return asio::async_initiate<Token, void(result<bson::document>)>(
            [options](auto handler, const client& self, std::string db, bson::document what) {
                auto kept = std::make_shared<decltype(handler)>(std::move(handler));
                const auto slot = asio::get_associated_cancellation_slot(*kept);
                // It runs on the client's executor, whatever the handler's may be: that of a future
                // is a thread pool of Asio's.
                const auto on = asio::get_associated_executor(*kept, self.executor());
                const auto done = [kept, on](result<bson::document> reply) {
                    asio::dispatch(on, [kept, reply = std::move(reply)]() mutable {
                        auto call = std::move(*kept);
                        std::move(call)(std::move(reply));
                    });
                };
                self.start_command(slot, std::move(db), std::move(what), options, done);
            },
            token, *this, std::string{database}, bson::document{command});
    }

    /// A session of this client. Does no I/O.
    session start_session() const;

    /// A library that wraps this one adds itself to what the server is told of its client, on
    /// connections that are opened from now on. Throws `failure` if a text holds a '|'.
    void append_metadata(std::string_view name, std::string_view version = {},
                         std::string_view platform = {}) const;

    /// Waits until the deployment has been looked up; throws `failure` if that fails.
    asio::awaitable<void> ready() const;

    /// Ends all operations, waits until nothing of the client runs any more, and delivers the last
    /// events. Without it, destroying the last copy stops everything and returns at once.
    asio::awaitable<void> close() const;

    /// The topology and its pools in a few lines, for people.
    std::string dump_state() const;

    asio::any_io_executor executor() const noexcept;

    /// For simulations: a client in another world than that of sockets. Not for applications.
    static result<client> in_world(std::shared_ptr<runtime::world> world, std::string_view uri,
                                   client_options options = {});

private:
    explicit client(std::shared_ptr<client_parts> made) noexcept : parts_{std::move(made)} {}

    void start_command(asio::cancellation_slot slot, std::string database, bson::document command,
                       command_options options,
                       std::function<void(result<bson::document>)> done) const;

    std::shared_ptr<client_parts> parts_;
};

}  // namespace holdfast::mongo
