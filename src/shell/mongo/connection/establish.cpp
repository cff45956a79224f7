#include "shell/mongo/connection/establish.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/settings/address.hpp"
#include "core/mongo/wire/legacy_query.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "shell/mongo/connection/authenticate.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::shell::mongo {
namespace {

using core::mongo::hello_command;
using core::mongo::login_start;

error in_phase(error why, const char* phase, const endpoint& server)
{
    if (why.context("phase").empty())
        why = std::move(why).with_context("phase", phase);
    if (why.context("cause").empty()) {
        std::string cause = why.message();
        why = std::move(why).with_context("cause", std::move(cause));
    }
    return std::move(why).with_context("server", server.value());
}

/// A server that wants TLS closes a connection that begins without.
error with_tls_hint(error why, const connection_config& config)
{
    const bool closed = why.code() == boost::asio::error::eof ||
                        why.code() == boost::asio::error::connection_reset;
    if (config.tls || !closed)
        return why;
    error hinted{why.code(), why.message() + "; perhaps it expects TLS: tls=true"};
    for (const std::string& label : why.labels())
        hinted = std::move(hinted).with_label(label);
    for (const context_entry& fact : why.context())
        hinted = std::move(hinted).with_context(fact.name, fact.value);
    return hinted;
}

/// Writes the first hello of a connection into its buffer: in the form that every server takes,
/// unless what we ask for needs a server that knows the newer one.
result<std::span<const std::uint8_t>> write_first_hello(
    connection& to, request_id id, const connection_config& config,
    const std::optional<login_start>& speculative)
{
    const bson::document client = config.client->get();
    core::mongo::handshake_hello hello;
    hello.api = declared(config.server_api);
    hello.command = core::mongo::first_hello(hello.api, config.load_balanced);
    hello.over_op_msg = config.hello_over_op_msg || hello.command == hello_command::hello;
    hello.load_balanced = config.load_balanced;
    hello.backpressure = config.backpressure;
    hello.client = client.view();
    hello.compressors = config.compressors;
    std::string user;
    if (config.credential && !config.mechanism && config.credential->username) {
        user = config.credential->source + '.' + *config.credential->username;
        hello.supported_mechanisms_of = user;
    }
    if (speculative && speculative->speculative)
        hello.speculative_authenticate = speculative->speculative->view();

    if (hello.over_op_msg) {
        core::mongo::message_builder out{to.outgoing(), id};
        core::mongo::write_hello(out.command(), hello);
        return out.finish();
    }
    core::mongo::legacy_query_builder out{to.outgoing(), id};
    core::mongo::write_hello(out.command(), hello);
    return out.finish();
}

runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::world& in,
                                                        const connection_config& config,
                                                        const endpoint& server, time_point until)
{
    auto [host, port] = core::mongo::parts_of(server);
    runtime::destination where;
    where.host = host;
    where.port = port;
    auto stream = co_await in.connect(std::move(where), until);
    if (!stream || !config.tls)
        co_return stream;
    runtime::stream_ptr plain = *std::move(stream);
    plain->expires_at(until);
    co_return co_await config.tls->connect(std::move(plain), host);
}

time_point limit(const runtime::world& in, const connection_config& config, time_point until)
{
    if (config.connect_timeout.count() == 0)
        return until;
    return std::min(until, in.steady_now() + config.connect_timeout);
}

/// Says hello over a stream, and remembers what the server says of itself.
runtime::awaitable<result<established>> say_hello(runtime::world& in, connection_ptr to,
                                                  const connection_config& config,
                                                  const std::optional<login_start>& speculative)
{
    const request_id id = to->next_request();
    auto request = write_first_hello(*to, id, config, speculative);
    if (!request)
        co_return std::move(request).error();
    const time_point sent = in.steady_now();
    auto reply = co_await to->round_trip(*request, id, "hello");
    if (!reply)
        co_return std::move(reply).error();
    const duration took = in.steady_now() - sent;
    auto says = core::mongo::parse_hello_reply(reply->body, config.load_balanced);
    if (!says)
        co_return std::move(says).error();
    bson::document heard{reply->body};
    core::mongo::compression compressor;
    compressor.zlib_level = config.zlib_level;
    if (const auto chosen = choose_compressor(config.compressors, says->compressors))
        compressor.with = *chosen;
    to->set_description(*std::move(says), compressor);
    established done{std::move(to), std::move(heard), took};
    co_return std::move(done);
}

runtime::awaitable<result<established>> handshake_by(runtime::world& in,
                                                     const connection_config& config,
                                                     endpoint server, time_point until,
                                                     const std::optional<login_start>& speculative)
{
    auto stream = co_await connect(in, config, server, until);
    if (!stream)
        co_return in_phase(std::move(stream).error(), runtime::phase_connect, server);
    auto made = std::make_unique<connection>(*std::move(stream), server, config.requests);
    made->expires_at(until);
    auto opened = co_await say_hello(in, std::move(made), config, speculative);
    if (!opened)
        co_return in_phase(with_tls_hint(std::move(opened).error(), config), phase_hello, server);
    co_return opened;
}

}  // namespace

bool is_terminal(const error& why) noexcept
{
    return why.code() == runtime::errc::name_not_found ||
           why.code() == runtime::errc::certificate_rejected;
}

bool rules_out_overload(const error& why) noexcept
{
    return is_terminal(why) || why.code() == runtime::errc::name_lookup_failed ||
           why.code() == runtime::errc::invalid_tls_options ||
           why.code().category() == core::mongo::category();
}

runtime::awaitable<result<established>> handshake(runtime::world& in,
                                                  const connection_config& config, endpoint server,
                                                  time_point until)
{
    const std::optional<login_start> none;
    co_return co_await handshake_by(in, config, std::move(server), limit(in, config, until), none);
}

runtime::awaitable<result<established>> establish(runtime::world& in,
                                                  const connection_config& config, endpoint server,
                                                  time_point until, hello_handler after_hello)
{
    const time_point last = limit(in, config, until);
    auto speculative = begin_speculative_login(in, config);
    if (!speculative)
        co_return in_phase(std::move(speculative).error(), phase_authentication, server);
    auto opened = co_await handshake_by(in, config, server, last, *speculative);
    if (!opened)
        co_return std::move(opened).error();
    if (after_hello)
        after_hello(*opened->connection, opened->reply.view());
    auto known = co_await authenticate(in, config, *opened->connection, *std::move(speculative));
    if (!known) {
        error why = in_phase(std::move(known).error(), phase_authentication, server);
        if (const auto& service = opened->connection->description().service_id)
            why = std::move(why).with_context("service", service->to_string());
        co_return std::move(why);
    }
    opened->connection->expires_at(runtime::never);
    co_return opened;
}

}  // namespace holdfast::shell::mongo
