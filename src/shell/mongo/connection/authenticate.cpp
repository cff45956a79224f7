#include "shell/mongo/connection/authenticate.hpp"

#include "core/mongo/wire/message_builder.hpp"
#include "runtime/wait.hpp"

#include <boost/system/errc.hpp>

#include <array>
#include <string>
#include <utility>

namespace holdfast::shell::mongo {
namespace {

using core::mongo::login_mechanism;
using core::mongo::login_start;
using core::mongo::login_step;

core::mongo::login login_of(const connection_config& config, login_mechanism mechanism)
{
    const core::mongo::credential& who = *config.credential;
    core::mongo::login as;
    as.max_iterations = config.scram_max_iterations;
    as.mechanism = mechanism;
    as.username = who.username ? std::string_view{*who.username} : std::string_view{};
    as.password = who.password ? who.password->view() : std::string_view{};
    as.source = who.source;
    return as;
}

result<login_start> start(runtime::world& in, const connection_config& config,
                          login_mechanism mechanism)
{
    std::array<std::uint8_t, 24> chance;  // as many bytes as the server draws
    in.random(chance);
    return core::mongo::start_login(login_of(config, mechanism), core::sasl::to_base64(chance),
                                    config.keys->all());
}

/// One command of a conversation. Its words stay out of all errors.
runtime::awaitable<result<core::mongo::message>> say(connection& to, const bson::document& command,
                                                     core::mongo::declared_api api)
{
    const request_id id = to.next_request();
    core::mongo::message_builder out{to.outgoing(), id};
    for (const bson::element& field : command.view())
        out.command().add(field.key(), field);
    core::mongo::write_api(out.command(), api);
    auto request = out.finish();
    if (!request)
        co_return std::move(request).error();
    co_return co_await to.round_trip(*request, id, "saslStart");
}

/// Computes keys, with other handlers in between, until there is something to send.
runtime::awaitable<result<login_step>> compute(runtime::world& in, const connection& on,
                                               core::mongo::login_state& state)
{
    for (;;) {
        const runtime::wait_end end = co_await runtime::yield();
        if (end == runtime::wait_end::cancelled)
            co_return error{runtime::errc::cancelled, "cancelled while keys were computed"};
        if (in.steady_now() >= on.expires_at())
            co_return error{boost::system::errc::make_error_code(boost::system::errc::timed_out),
                            "the time was up while the keys of SCRAM were computed"};
        auto step = continue_login(state);
        if (!step || !std::holds_alternative<core::mongo::compute_keys>(*step))
            co_return step;
    }
}

}  // namespace

result<std::optional<login_start>> begin_speculative_login(runtime::world& in,
                                                           const connection_config& config)
{
    std::optional<login_start> none;
    if (!config.credential)
        return none;
    const auto mechanism = core::mongo::speculative_mechanism(config.mechanism);
    if (!mechanism)
        return none;
    auto begun = start(in, config, *mechanism);
    if (!begun)
        return std::move(begun).error();
    return std::optional<login_start>{*std::move(begun)};
}

runtime::awaitable<result<void>> authenticate(runtime::world& in, const connection_config& config,
                                              connection& on,
                                              std::optional<login_start> speculative)
{
    if (!config.credential || on.description().is_arbiter)
        co_return result<void>{};
    std::optional<result<login_step>> step;
    std::optional<login_start> talk = std::move(speculative);
    if (talk && on.description().speculative_reply) {
        step = step_speculative(talk->state, on.description().speculative_reply->view());
    } else {
        const login_mechanism mechanism = config.mechanism
                                              ? *config.mechanism
                                              : core::mongo::default_mechanism(
                                                    on.description().supported_mechanisms);
        auto begun = start(in, config, mechanism);
        if (!begun)
            co_return std::move(begun).error();
        talk = *std::move(begun);
        step = login_step{core::mongo::send_next{std::move(talk->command)}};
    }
    while (*step && !std::holds_alternative<core::mongo::logged_in>(**step)) {
        if (std::holds_alternative<core::mongo::compute_keys>(**step)) {
            auto computed = co_await compute(in, on, talk->state);
            step = std::move(computed);
            continue;
        }
        const bson::document command = std::move(std::get<core::mongo::send_next>(**step).command);
        auto reply = co_await say(on, command, declared(config.server_api));
        if (!reply)
            co_return std::move(reply).error();
        step = step_login(talk->state, reply->body);
    }
    if (!*step)
        co_return std::move(*step).error();
    auto& done = std::get<core::mongo::logged_in>(**step);
    if (done.keys)
        config.keys->add(*std::move(done.keys));
    co_return result<void>{};
}

}  // namespace holdfast::shell::mongo
