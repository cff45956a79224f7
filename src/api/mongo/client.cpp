#include "holdfast/mongo/client.hpp"

#include "api/common/default_runtime.hpp"
#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"

#include <utility>

namespace holdfast::mongo {

client::client(const std::shared_ptr<client_impl>& made) noexcept
    : handle{made, made->everywhere_settings()}
{
}

client::client(asio::any_io_executor on, std::string_view uri, client_options options)
    : client{create(std::move(on), uri, std::move(options)).value()}
{
}

result<client> client::create(asio::any_io_executor on, std::string_view uri,
                              client_options options)
{
    auto made = access::in_world(api::default_world(std::move(on)), uri, std::move(options));
    if (made)
        made->client_->fallback_log = console_log(severity::warning);
    return made;
}

result<client> access::in_world(std::shared_ptr<runtime::world> world, std::string_view uri,
                                client_options options)
{
    auto parsed = core::mongo::parse_uri(uri);
    if (!parsed)
        return std::move(parsed).error();
    if (auto fine = check(*parsed, options); !fine)
        return std::move(fine).error();
    return make_client(
        std::make_shared<client_impl>(std::move(world), *std::move(parsed), std::move(options)));
}

bson::object_id client::new_id() const
{
    return client_->new_id();
}

session client::start_session(session_options options) const
{
    return client_->start_session(options).value();
}

void client::append_metadata(std::string_view name, std::string_view version,
                             std::string_view platform) const
{
    client_->append_metadata(name, version, platform).value();
}

namespace {

/// Not a member: it may begin when the client that it was asked of has gone.
asio::awaitable<void> open_or_throw(std::shared_ptr<client_impl> self)
{
    auto opened = co_await self->open();
    if (!opened)
        throw failure{std::move(opened).error()};
}

}  // namespace

asio::awaitable<void> client::ready() const
{
    return open_or_throw(client_);
}

asio::awaitable<void> client::close(close_options options) const
{
    return client_impl::close(client_, options);
}

std::string client::dump_state() const
{
    return client_->dump();
}

}  // namespace holdfast::mongo
