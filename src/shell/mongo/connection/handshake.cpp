#include "shell/mongo/connection/handshake.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/settings/draw_order.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/connection/establish.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo {
namespace {

using core::mongo::client_settings;
using core::mongo::parsed_uri;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// What is known of one seed.
struct tried_seed {
    endpoint server;
    std::optional<error> failure = {};
    time_point failed{};
    bool hopeless = false;  // waiting will not help
};

std::string in_ms(duration time)
{
    return std::to_string(duration_cast<milliseconds>(time).count()) + " ms";
}

std::string last_error_text(const tried_seed& seed, time_point now)
{
    std::string text = seed.server.value() + ": ";
    if (!seed.failure)
        return text + "not tried";
    return text.append(seed.failure->context("cause"))
        .append(" (phase ")
        .append(seed.failure->context("phase"))
        .append(", ")
        .append(in_ms(now - seed.failed))
        .append(" ago)");
}

error no_server_error(const std::vector<tried_seed>& seeds, std::string why, time_point now,
                      error_code code = core::mongo::errc::no_server)
{
    std::string text = std::move(why);
    const char* separator = ": ";
    for (const tried_seed& seed : seeds) {
        text.append(separator).append(last_error_text(seed, now));
        separator = "; ";
    }
    error none{code, std::move(text)};
    for (const tried_seed& seed : seeds) {
        if (seed.failure)
            none = std::move(none).with_context(seed.server.value(), seed.failure->message());
    }
    return none;
}

bool all_hopeless(const std::vector<tried_seed>& seeds)
{
    return std::ranges::all_of(seeds, &tried_seed::hopeless);
}

/// Whether a client with these settings uses the server: its wire versions and the name of its set
/// decide, as in a topology with this server alone.
result<void> check_server(const client_settings& settings, const endpoint& server, bson::view hello,
                          time_point now)
{
    if (settings.load_balanced)
        return {};
    core::mongo::topology_settings alone;
    alone.seeds = {server};
    alone.replica_set = settings.replica_set;
    alone.direct_connection = true;
    const auto found = apply_check(open_topology(alone).after,
                                   core::mongo::parse_hello(server, hello, {}, now))
                           .after;
    if (found->compatibility_error)
        return error{core::mongo::errc::incompatible_server, *found->compatibility_error};
    if (const auto& failure = found->find(server)->failure)
        return *failure;
    return {};
}

error refused_by_us(error why)
{
    std::string cause = why.message();
    return std::move(why)
        .with_context("phase", phase_hello)
        .with_context("cause", std::move(cause));
}

/// The server has refused the login: it will do so again.
bool is_refused_login(const error& why)
{
    return why.code() == core::mongo::errc::authentication_failed &&
           !why.has_label("RetryableError");
}

}  // namespace

runtime::awaitable<result<parsed_uri>> look_up_seeds(runtime::world& in, parsed_uri from,
                                                     time_point until)
{
    if (!from.settings.srv)
        co_return from;
    until = std::min(until, in.steady_now() + from.settings.server_selection_timeout);
    const std::string name = core::mongo::srv_query_name(*from.settings.srv);
    auto records = co_await in.resolve_srv(name, until);
    if (!records)
        co_return std::move(records).error();
    auto texts = co_await in.resolve_txt(from.settings.srv->host, until);
    if (!texts)
        co_return std::move(texts).error();
    core::mongo::srv_answer answer;
    std::vector<double> chances;
    for (const runtime::srv_record& record : *records) {
        answer.targets.push_back({record.host, record.port});
        chances.push_back(in.chance());
    }
    core::mongo::draw_order(answer.targets, chances);
    answer.txt = *std::move(texts);
    auto resolved = core::mongo::resolve_srv(from, answer);
    if (resolved && resolved->settings.srv)
        resolved->settings.srv->ttl = std::chrono::seconds{
            std::ranges::min(*records, {}, &runtime::srv_record::ttl).ttl};
    co_return resolved;
}

runtime::awaitable<result<connection_ptr>> perform_handshake(runtime::world& in,
                                                             const connection_config& config,
                                                             const client_settings& settings)
{
    const time_point until = in.steady_now() + settings.server_selection_timeout;
    std::vector<tried_seed> seeds;
    for (const endpoint& server : settings.seeds)
        seeds.push_back({server});
    for (;;) {
        const time_point round = in.steady_now();
        for (tried_seed& seed : seeds) {
            auto made = co_await establish(in, config, seed.server, until);
            seed.failed = in.steady_now();
            if (made) {
                auto fit = check_server(settings, seed.server, made->reply.view(), seed.failed);
                if (fit)
                    co_return std::move(made->connection);
                if (fit.error().code() == core::mongo::errc::incompatible_server)
                    co_return std::move(fit).error();
                seed.hopeless = true;
                seed.failure = refused_by_us(std::move(fit).error());
                continue;
            }
            if (made.error().code() == runtime::errc::cancelled)
                co_return std::move(made).error();
            seed.failure = std::move(made).error();
            seed.hopeless = is_terminal(*seed.failure);
            if (is_refused_login(*seed.failure))
                co_return no_server_error(seeds, "authentication failed", seed.failed,
                                          seed.failure->code());
        }
        const time_point now = in.steady_now();
        if (settings.fail_fast_on_terminal_errors && all_hopeless(seeds))
            co_return no_server_error(seeds, "waiting will not help", now);
        const time_point next = std::max(now, round + core::mongo::min_heartbeat_frequency);
        const runtime::wait_end end = co_await runtime::sleep_until(in, std::min(next, until));
        if (end == runtime::wait_end::cancelled)
            co_return no_server_error(seeds, "cancelled", in.steady_now(),
                                      runtime::errc::cancelled);
        if (in.steady_now() >= until)
            co_return no_server_error(
                seeds, "no server answered within " + in_ms(settings.server_selection_timeout),
                in.steady_now());
    }
}

}  // namespace holdfast::shell::mongo
