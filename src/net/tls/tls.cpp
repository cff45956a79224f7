#include "net/tls/tls.hpp"

#include "net/tls/context.hpp"
#include "net/tls/failure.hpp"
#include "net/tls/layer.hpp"
#include "net/tls/stream.hpp"
#include "runtime/errc.hpp"

#include <utility>

namespace holdfast::net {

using runtime::awaitable;
using runtime::stream_ptr;

namespace {

error impossible_name(const std::string& host)
{
    const char* const cause = "no certificate can have such a name";
    error why{runtime::errc::tls_failed, "no TLS connection to \"" + host + "\": " + cause};
    return std::move(why)
        .with_context("phase", runtime::phase_tls)
        .with_context("server", host)
        .with_context("cause", cause);
}

error no_certificate()
{
    const char* const cause = "a server needs a certificate: give the file of one and its key";
    error why{runtime::errc::invalid_tls_options, cause};
    return std::move(why).with_context("phase", runtime::phase_tls).with_context("cause", cause);
}

}  // namespace

openssl_layer::openssl_layer(tls_contexts contexts, bool check_name)
    : shared_{std::make_shared<shared>()}
{
    shared_->contexts = std::move(contexts);
    shared_->check_name = check_name;
}

awaitable<result<stream_ptr>> openssl_layer::connect(stream_ptr over, std::string host)
{
    return connect_with(shared_, std::move(over), std::move(host));
}

awaitable<result<stream_ptr>> openssl_layer::accept(stream_ptr over)
{
    return accept_with(shared_, std::move(over));
}

awaitable<result<stream_ptr>> openssl_layer::connect_with(shared_ptr with, stream_ptr over,
                                                          std::string host)
{
    constexpr auto side = tls_side::client;
    std::string server = host + '|' + over->peer();
    auto made = std::make_unique<tls_stream>(std::move(over), *with->contexts.client, side);
    if (!made->engine().expect(host, with->check_name))
        co_return impossible_name(host);
    made->engine().resume_from(with->sessions, std::move(server));
    bool done = false;
    const error_code broken = co_await made->shake_hands(done);
    if (broken || !done)
        co_return handshake_error(made->engine(), side, made->peer(), broken);
    if (made->engine().resumed())
        ++with->resumed;
    co_return stream_ptr{std::move(made)};
}

awaitable<result<stream_ptr>> openssl_layer::accept_with(shared_ptr with, stream_ptr over)
{
    constexpr auto side = tls_side::server;
    if (!with->contexts.server)
        co_return no_certificate();
    auto made = std::make_unique<tls_stream>(std::move(over), *with->contexts.server, side);
    bool done = false;
    const error_code broken = co_await made->shake_hands(done);
    if (broken || !done)
        co_return handshake_error(made->engine(), side, made->peer(), broken);
    if (made->engine().resumed())
        ++with->resumed;
    co_return stream_ptr{std::move(made)};
}

result<runtime::tls_ptr> make_tls(const runtime::tls_options& options)
{
    auto contexts = make_contexts(options);
    if (!contexts)
        return std::move(contexts).error();
    return runtime::tls_ptr{
        std::make_shared<openssl_layer>(*std::move(contexts), options.verify_hostname)};
}

}  // namespace holdfast::net
