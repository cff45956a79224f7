#include "api/client_parts.hpp"
#include "api/default_runtime.hpp"
#include "holdfast/sync/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <optional>
#include <utility>

namespace holdfast::sync {
namespace {

using reply = std::optional<result<bson::document>>;

runtime::awaitable<void> keep(runtime::awaitable<result<bson::document>> what, reply& into)
{
    auto outcome = co_await std::move(what);
    into.emplace(std::move(outcome));
}

}  // namespace

struct client::parts {
    parts(core::mongo::parsed_uri parsed, mongo::client_options options)
        : runtime{api::blocking_runtime::start()},
          inner{std::make_shared<mongo::client_parts>(runtime->world(), std::move(parsed),
                                                      std::move(options))}
    {
        inner->make_blocking = api::blocking_runtime::make_blocking;
    }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    ~parts() { close(); }

    /// Names are looked up by the client's own thread, once, whoever comes first.
    result<void> open() const
    {
        return boost::asio::co_spawn(inner->world->executor(), inner->open(),
                                     boost::asio::use_future)
            .get();
    }
    void close() const { runtime->run(inner->close()); }

    const std::unique_ptr<api::blocking_runtime> runtime;  // goes last: the rest lives on it
    const std::shared_ptr<mongo::client_parts> inner;
};

client::client(std::string_view uri, mongo::client_options options)
    : client{create(uri, std::move(options)).value()}
{
}

result<client> client::create(std::string_view uri, mongo::client_options options)
{
    auto parsed = core::mongo::parse_uri(uri);
    if (!parsed)
        return std::move(parsed).error();
    return client{std::make_unique<parts>(*std::move(parsed), std::move(options))};
}

client::client(std::unique_ptr<parts> made) noexcept : parts_{std::move(made)} {}
client::client(client&&) noexcept = default;
client& client::operator=(client&&) noexcept = default;
client::~client() = default;

result<bson::document> client::try_run_command(std::string_view database, bson::view command,
                                               mongo::command_options options) const
{
    if (!parts_->inner->is_open()) {
        if (auto opened = parts_->open(); !opened)
            return std::move(opened).error();
    }
    reply outcome;
    auto order = parts_->inner->order_for(database, command, options);
    parts_->runtime->run(keep(parts_->inner->run(std::move(order)), outcome));
    return *std::move(outcome);
}

bson::document client::run_command(std::string_view database, bson::view command,
                                   mongo::command_options options) const
{
    return try_run_command(database, command, options).value();
}

mongo::session client::start_session() const
{
    return parts_->inner->start_session();
}

void client::append_metadata(std::string_view name, std::string_view version,
                             std::string_view platform) const
{
    parts_->inner->append_metadata(name, version, platform).value();
}

result<void> client::try_ready() const
{
    return parts_->open();
}

void client::ready() const
{
    try_ready().value();
}

void client::close() const
{
    parts_->close();
}

std::string client::dump_state() const
{
    return parts_->inner->dump();
}

}  // namespace holdfast::sync
