#include "shell/couchbase/connection/establish.hpp"

#include "core/sasl/crypto.hpp"
#include "runtime/wait.hpp"
#include "shell/couchbase/connection/connect_stream.hpp"
#include "shell/couchbase/connection/late_reply.hpp"
#include "shell/planted.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace holdfast::shell::couchbase {

namespace {

using core::couchbase::bootstrap;
using core::couchbase::bootstrap_action;
using core::couchbase::bootstrap_failure;
using core::couchbase::bootstrapped;
using core::couchbase::frame;
using core::couchbase::kv_feature;

establish_failure failed_to_connect(error why, const endpoint& server)
{
    const bool by_tls = is_tls_failure(why);
    return {in_phase(std::move(why), runtime::phase_connect, server), by_tls};
}

/// A server that wants TLS closes a connection that begins without.
establish_failure lost_in_bootstrap(const error_code& why, const endpoint& server, bool with_tls)
{
    const bool closed = why == boost::asio::error::eof ||
                        why == boost::asio::error::connection_reset;
    std::string message = closed ? "the server closed the connection during the bootstrap"
                                 : "the bootstrap broke off: " + why.message();
    if (closed && !with_tls)
        message += "; perhaps it expects TLS: couchbases://";
    return {in_phase(error{why, std::move(message)}, phase_bootstrap, server),
            runtime::is_broken_by_tls(why)};
}

establish_failure refused_bootstrap(bootstrap_failure why, const endpoint& server)
{
    establish_failure failed{in_phase(std::move(why.why), phase_bootstrap, server)};
    failed.problem = why.problem;
    failed.step = why.step;
    failed.status = why.status;
    return failed;
}

core::couchbase::bootstrap_options options_for(const connection_config& config, const login& with,
                                               const connect_target& to, const std::string& name)
{
    core::couchbase::bootstrap_options options;
    options.agent = config.agent;
    options.connection_name = name;
    options.features = config.features;
    options.credential = with.credential;
    if (auto* const password = std::get_if<core::couchbase::password_credential>(
            &options.credential))
        password->known = with.keys->all();
    options.is_tls = with.tls != nullptr;
    options.bucket = to.bucket;
    options.known_config = to.known_config;
    if (!to.exclusive)
        return options;
    // Nothing reads on it between two operations, and the node's other connection has the news.
    options.fetch_config = false;
    std::erase_if(options.features, [](kv_feature one) {
        return one == kv_feature::clustermap_change_notification ||
               one == kv_feature::clustermap_change_notification_brief;
    });
    return options;
}

std::string draw_nonce(runtime::world& in)
{
    std::array<std::uint8_t, 24> bytes{};
    in.random(bytes);
    return core::sasl::to_base64(bytes);
}

/// The stream, and the machine that says what to do with it.
struct bootstrap_run {
    std::string name;  // of the connection
    runtime::stream_ptr stream;
    core::couchbase::frame_reader reader;
    bson::byte_buffer out;
    bootstrap machine;
};

/// What the machine makes of the next frame; an error code if there is none.
runtime::awaitable<std::variant<error_code, error, bootstrap_action>> read_action(
    bootstrap_run& run)
{
    for (;;) {
        auto next = run.reader.next();
        if (!next)
            co_return std::move(next).error();
        if (const frame* const one = std::get_if<frame>(&*next))
            co_return run.machine.resume(*one, run.out);
        const runtime::io_result got = co_await run.stream->read_some(run.reader.writable());
        if (got.why)
            co_return got.why;
        run.reader.received(got.bytes);
    }
}

runtime::awaitable<std::variant<establish_failure, bootstrapped>> perform(bootstrap_run& run,
                                                                          const endpoint& server,
                                                                          bool with_tls)
{
    bootstrap_action action = run.machine.start(run.out);
    for (;;) {
        auto* const failed = std::get_if<bootstrap_failure>(&action);
        if (planted.trusts_any_server && failed &&
            failed->problem == core::couchbase::bootstrap_problem::untrusted_server)
            co_return bootstrapped{};
        if (failed)
            co_return refused_bootstrap(std::move(*failed), server);
        if (auto* const done = std::get_if<bootstrapped>(&action))
            co_return std::move(*done);
        if (std::holds_alternative<core::couchbase::compute_keys>(action)) {
            const runtime::wait_end end = co_await runtime::yield();
            if (end == runtime::wait_end::cancelled)
                co_return lost_in_bootstrap(boost::asio::error::operation_aborted, server, true);
            action = run.machine.compute(run.out);
            continue;
        }
        const error_code why = co_await runtime::write_all(*run.stream, run.out.bytes());
        if (why)
            co_return lost_in_bootstrap(why, server, with_tls);
        run.out.clear();
        auto next = co_await read_action(run);
        if (const auto* const lost = std::get_if<error_code>(&next))
            co_return lost_in_bootstrap(*lost, server, with_tls);
        if (auto* const garbage = std::get_if<error>(&next)) {
            establish_failure failed{in_phase(std::move(*garbage), phase_bootstrap, server)};
            co_return std::move(failed);
        }
        action = std::get<bootstrap_action>(std::move(next));
    }
}

established connected(runtime::world& in, const connection_config& config, const login& with,
                      connect_target& to, bootstrap_run& run, bootstrapped& done)
{
    if (done.keys)
        with.keys->add(*std::move(done.keys));
    kv_connection_options options;
    options.server = to.server;
    options.facts = std::make_shared<const observed::connection>(
        observed::connection{to.server, run.stream->local(), std::move(run.name)});
    options.bucket = to.bucket;
    options.features = done.features;
    options.in_flight.slots = config.max_in_flight;
    options.exclusive = to.exclusive;
    if (to.exclusive) {
        options.in_flight.slots = core::couchbase::inflight_table<int>::min_slots;
        run.stream = config.make_blocking(std::move(run.stream));
    }
    options.on_server_request = std::move(to.on_server_request);
    options.on_end = std::move(to.on_end);
    options.on_late_reply = late_reply_hook(config.observation, options.facts);
    if (done.error_map)
        options.error_map = std::make_shared<const core::couchbase::kv_error_map>(
            *std::move(done.error_map));
    established made;
    made.config = std::move(done.config);
    made.config_status = done.config_status;
    made.error_map_defect = std::move(done.error_map_defect);
    made.logged_in = done.mechanism.has_value();
    made.connection = kv_connection::start(in, std::move(run.stream), std::move(run.reader),
                                           std::move(options));
    return made;
}

}  // namespace

runtime::awaitable<establish_outcome> establish(runtime::world& in,
                                                std::shared_ptr<const connection_config> config,
                                                connect_target to)
{
    const auto with = config->current_login();
    const time_point began = in.steady_now();
    const time_point last = began + config->bootstrap_timeout;
    auto stream = co_await connect_stream(in, config, with, to.server,
                                          std::min(last, began + config->connect_timeout));
    if (!stream)
        co_return failed_to_connect(std::move(stream).error(), to.server);
    (*stream)->expires_at(last);
    std::string name = config->next_connection_name();
    auto options = options_for(*config, *with, to, name);
    bootstrap_run run{std::move(name), *std::move(stream), core::couchbase::frame_reader{},
                      bson::byte_buffer{}, bootstrap{std::move(options), draw_nonce(in)}};
    auto done = co_await perform(run, to.server, with->tls != nullptr);
    if (auto* const failed = std::get_if<establish_failure>(&done))
        co_return std::move(*failed);
    co_return connected(in, *config, *with, to, run, std::get<bootstrapped>(done));
}

}  // namespace holdfast::shell::couchbase
