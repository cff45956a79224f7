#include "api/common/default_runtime.hpp"
#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "holdfast/mongo/sync/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <utility>

namespace holdfast::mongo::sync {
namespace {

class client_bridge final : public blocking_bridge {
public:
    client_bridge(core::mongo::parsed_uri parsed, mongo::client_options options)
        : runtime_{api::blocking_runtime::start()},
          impl_{std::make_shared<mongo::client_impl>(runtime_->world(), std::move(parsed),
                                                     std::move(options))}
    {
        impl_->make_blocking = api::blocking_runtime::make_blocking;
        impl_->fallback_log = console_log(severity::warning);
    }

    /// Names are looked up by the client's own thread, once, for the first operation.
    result<void> open() override
    {
        if (impl_->is_open())
            return {};
        const core::deadline until = impl_->order_for({}, nullptr).until;  // timeoutMS
        return asio::co_spawn(impl_->world->executor(), impl_->open(until), asio::use_future).get();
    }

    void run_quiet(asio::awaitable<void> what) override { runtime_->run(std::move(what)); }

    const std::shared_ptr<mongo::client_impl>& impl() const noexcept { return impl_; }

private:
    const std::unique_ptr<api::blocking_runtime> runtime_;  // goes last: the rest lives on it
    const std::shared_ptr<mongo::client_impl> impl_;
};

}  // namespace

client::client(std::string_view uri, mongo::client_options options)
    : client{create(uri, std::move(options)).value()}
{
}

result<client> client::create(std::string_view uri, mongo::client_options options)
{
    auto parsed = core::mongo::parse_uri(uri);
    if (!parsed)
        return std::move(parsed).error();
    if (auto fine = mongo::check(*parsed, options); !fine)
        return std::move(fine).error();
    auto on = std::make_shared<client_bridge>(*std::move(parsed), std::move(options));
    mongo::client inner = mongo::access::make_client(on->impl());
    return client{std::move(on), std::move(inner)};
}

client& client::operator=(client&& other) noexcept
{
    if (this != &other) {
        if (bridge_)
            close();
        blocking_handle::operator=(std::move(other));
    }
    return *this;
}

client::~client()
{
    if (bridge_)
        close();
}

mongo::session client::start_session(mongo::session_options options) const
{
    return inner_.start_session(options);
}

result<mongo::session> client::try_start_session(mongo::session_options options) const
{
    try {
        return inner_.start_session(options);
    } catch (const failure& contradiction) {
        return contradiction.error();
    }
}

void client::append_metadata(std::string_view name, std::string_view version,
                             std::string_view platform) const
{
    inner_.append_metadata(name, version, platform);
}

void client::close(mongo::close_options options) const
{
    bridge_->run(inner_.close(options));
}

}  // namespace holdfast::mongo::sync
