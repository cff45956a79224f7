#include "holdfast/mongo/client.hpp"

#include "api/client_parts.hpp"
#include "api/default_runtime.hpp"
#include "shell/mongo/execute/command_attempts.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace holdfast::mongo {

client::client(asio::any_io_executor on, std::string_view uri, client_options options)
    : client{create(std::move(on), uri, std::move(options)).value()}
{
}

result<client> client::create(asio::any_io_executor on, std::string_view uri,
                              client_options options)
{
    return in_world(api::default_world(std::move(on)), uri, std::move(options));
}

result<client> client::in_world(std::shared_ptr<runtime::world> world, std::string_view uri,
                                client_options options)
{
    auto parsed = core::mongo::parse_uri(uri);
    if (!parsed)
        return std::move(parsed).error();
    return client{
        std::make_shared<client_parts>(std::move(world), *std::move(parsed), std::move(options))};
}

namespace {

/// A coroutine that keeps what it needs, and throws instead of returning an error.
asio::awaitable<bson::document> or_throw(asio::awaitable<result<bson::document>> what)
{
    auto reply = co_await std::move(what);
    co_return std::move(reply).value();
}

}  // namespace

asio::awaitable<bson::document> client::run_command(std::string_view database, bson::view command,
                                                    command_options options) const
{
    auto order = parts_->order_for(database, command, options);
    if (parts_->may_run_now(order))
        return shell::mongo::execute_or_throw(parts_->state, std::move(order));
    return or_throw(parts_->run(std::move(order)));
}

void client::start_command(asio::cancellation_slot slot, std::string database,
                           bson::document command, command_options options,
                           std::function<void(result<bson::document>)> done) const
{
    using reply = std::optional<result<bson::document>>;
    // co_spawn wants a value that can be made of nothing.
    auto wrapped = [](asio::awaitable<result<bson::document>> what) -> asio::awaitable<reply> {
        auto outcome = co_await std::move(what);
        co_return reply{std::move(outcome)};
    };
    auto order = parts_->order_for(database, command.view(), options);
    auto finish = [done = std::move(done)](const std::exception_ptr& thrown, reply outcome) {
        if (thrown)
            std::rethrow_exception(thrown);
        done(*std::move(outcome));
    };
    asio::co_spawn(executor(), wrapped(parts_->run(std::move(order))),
                   asio::bind_cancellation_slot(slot, std::move(finish)));
}

session client::start_session() const
{
    return parts_->start_session();
}

void client::append_metadata(std::string_view name, std::string_view version,
                             std::string_view platform) const
{
    parts_->append_metadata(name, version, platform).value();
}

asio::awaitable<void> client::ready() const
{
    const auto self = parts_;
    auto opened = co_await self->open();
    if (!opened)
        throw failure{std::move(opened).error()};
}

asio::awaitable<void> client::close() const
{
    return parts_->close();
}

std::string client::dump_state() const
{
    return parts_->dump();
}

asio::any_io_executor client::executor() const noexcept
{
    return parts_->world->executor();
}

}  // namespace holdfast::mongo
