#include "shell/mongo/connection/establish.hpp"

#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/settings/address.hpp"
#include "core/mongo/wire/legacy_query.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "shell/mongo/connection/authenticate.hpp"

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

/// Writes the first hello of a connection into its buffer: in the form that every server takes,
/// unless what we ask for needs a server that knows the newer one.
result<std::span<const std::uint8_t>> write_first_hello(
    connection& to, request_id id, const connection_recipe& recipe,
    const std::optional<login_start>& speculative)
{
    const bson::document client = recipe.client->get();
    core::mongo::handshake_hello hello;
    hello.api = declared(recipe.server_api);
    hello.command = core::mongo::first_hello(hello.api, recipe.load_balanced);
    hello.over_op_msg = hello.command == hello_command::hello;
    hello.load_balanced = recipe.load_balanced;
    hello.backpressure = recipe.backpressure;
    hello.client = client.view();
    hello.compressors = recipe.compressors;
    std::string user;
    if (recipe.credential && !recipe.mechanism && recipe.credential->username) {
        user = recipe.credential->source + '.' + *recipe.credential->username;
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
                                                        const connection_recipe& recipe,
                                                        const endpoint& server, time_point until)
{
    auto [host, port] = core::mongo::parts_of(server);
    runtime::destination where;
    where.host = host;
    where.port = port;
    auto stream = co_await in.connect(std::move(where), until);
    if (!stream || !recipe.tls)
        co_return stream;
    runtime::stream_ptr plain = *std::move(stream);
    plain->expires_at(until);
    co_return co_await recipe.tls->connect(std::move(plain), host);
}

time_point limit(const runtime::world& in, const connection_recipe& recipe, time_point until)
{
    if (recipe.connect_timeout.count() == 0)
        return until;
    return std::min(until, in.steady_now() + recipe.connect_timeout);
}

/// Says hello over a stream, and remembers what the server says of itself.
runtime::awaitable<result<greeting>> say_hello(runtime::world& in, connection_ptr to,
                                               const connection_recipe& recipe,
                                               const std::optional<login_start>& speculative)
{
    const request_id id = to->next_request();
    auto request = write_first_hello(*to, id, recipe, speculative);
    if (!request)
        co_return std::move(request).error();
    const time_point sent = in.steady_now();
    auto reply = co_await to->round_trip(*request, id, "hello");
    if (!reply)
        co_return std::move(reply).error();
    const duration took = in.steady_now() - sent;
    auto says = core::mongo::parse_hello_reply(reply->body, recipe.load_balanced);
    if (!says)
        co_return std::move(says).error();
    bson::document heard{reply->body};
    core::mongo::compression how;
    how.zlib_level = recipe.zlib_level;
    if (const auto chosen = choose_compressor(recipe.compressors, says->compressors))
        how.with = *chosen;
    to->set_description(*std::move(says), how);
    greeting done{std::move(to), std::move(heard), took};
    co_return std::move(done);
}

runtime::awaitable<result<greeting>> greet_by(runtime::world& in, const connection_recipe& recipe,
                                              endpoint server, time_point until,
                                              const std::optional<login_start>& speculative)
{
    auto stream = co_await connect(in, recipe, server, until);
    if (!stream)
        co_return in_phase(std::move(stream).error(), runtime::phase_connect, server);
    auto made = std::make_unique<connection>(*std::move(stream), server, recipe.requests);
    made->expires_at(until);
    auto greeted = co_await say_hello(in, std::move(made), recipe, speculative);
    if (!greeted)
        co_return in_phase(std::move(greeted).error(), phase_hello, server);
    co_return greeted;
}

}  // namespace

bool is_terminal(const error& why) noexcept
{
    return why.code() == runtime::errc::name_not_found ||
           why.code() == runtime::errc::certificate_rejected;
}

runtime::awaitable<result<greeting>> greet(runtime::world& in, const connection_recipe& recipe,
                                           endpoint server, time_point until)
{
    const std::optional<login_start> none;
    co_return co_await greet_by(in, recipe, std::move(server), limit(in, recipe, until), none);
}

runtime::awaitable<result<greeting>> establish(runtime::world& in, const connection_recipe& recipe,
                                               endpoint server, time_point until)
{
    const time_point last = limit(in, recipe, until);
    auto speculative = begin_speculative_login(in, recipe);
    if (!speculative)
        co_return in_phase(std::move(speculative).error(), phase_authentication, server);
    auto greeted = co_await greet_by(in, recipe, server, last, *speculative);
    if (!greeted)
        co_return std::move(greeted).error();
    auto known = co_await authenticate(in, recipe, *greeted->connection, *std::move(speculative));
    if (!known) {
        error why = in_phase(std::move(known).error(), phase_authentication, server);
        if (const auto& service = greeted->connection->description().service_id)
            why = std::move(why).with_context("service", service->to_string());
        co_return std::move(why);
    }
    greeted->connection->expires_at(runtime::never);
    co_return greeted;
}

}  // namespace holdfast::shell::mongo
