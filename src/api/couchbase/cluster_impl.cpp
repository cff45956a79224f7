#include "api/couchbase/cluster_impl.hpp"

#include "api/common/observer_place.hpp"
#include "api/couchbase/notify.hpp"
#include "api/couchbase/service_operations.hpp"
#include "api/couchbase/start_call.hpp"
#include "core/couchbase/retry/orchestrator.hpp"
#include "core/couchbase/settings/capella.hpp"
#include "core/couchbase/uri/connection_string.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace holdfast::couchbase {

namespace {

using shell::couchbase::cluster_state;
using shell::couchbase::kv_bucket;
using shell::couchbase::kv_link;

/// Keeps what the coroutines of a cluster that was not closed share, until the last has ended.
runtime::awaitable<void> outlive(std::shared_ptr<cluster_state> state)
{
    co_await state->nodes->ended();
}

error unusable(std::string_view option, std::string message)
{
    return error{errc::invalid_argument, std::string{option} + ": " + std::move(message)}
        .with_context("option", std::string{option});
}

std::string agent_name(const core::couchbase::cluster_settings& settings)
{
    std::string agent = "holdfast/" HOLDFAST_VERSION;
    if (settings.user_agent_extra)
        agent += ' ' + *settings.user_agent_extra;
    return agent;
}

/// Where observers are called.
shell::run_later place_for_observers(const std::shared_ptr<runtime::world>& in,
                                     const cluster_options& options,
                                     const cluster_impl::place_maker& otherwise)
{
    if (options.observers_on)
        return api::observers_in(api::default_world(options.observers_on));
    return otherwise ? otherwise() : api::observers_in(in);
}

/// An option with a value that cannot be.
std::optional<error> check_thresholds(const cluster_options& options)
{
    constexpr std::uint32_t largest_sample = 1'000;
    if (options.thresholds.interval < std::chrono::milliseconds{1})
        return unusable("thresholds.interval", "it must be 1 ms or longer");
    if (options.thresholds.sample == 0 || options.thresholds.sample > largest_sample)
        return unusable("thresholds.sample", "it must be a number from 1 to 1,000");
    if (options.observer_queue == 0)
        return unusable("observer_queue", "it must be 1 or more");
    return std::nullopt;
}

std::shared_ptr<cluster_state> make_state(const std::shared_ptr<runtime::world>& in,
                                          const core::couchbase::cluster_settings& settings,
                                          shell::couchbase::login login,
                                          const cluster_options& options,
                                          cluster_impl::blocking_maker make_blocking,
                                          const cluster_impl::place_maker& for_observers)
{
    auto to_observe = observation_of(options);
    if (!options.observers.empty())
        to_observe.deliver = place_for_observers(in, options, for_observers);
    const auto observation = shell::observation::make(*in, std::move(to_observe));
    shell::couchbase::kv_cluster_options plan;
    plan.settings = settings;
    plan.connections = std::make_shared<shell::couchbase::connection_config>(
        *in, settings, std::move(login), agent_name(settings), std::move(make_blocking),
        observation);
    if (options.circuit_breaker) {
        const breaker_options& from = *options.circuit_breaker;
        plan.breaker = core::circuit_breaker_settings{from.volume, from.error_percentage,
                                                      from.sleep_window, from.rolling_window};
    } else if (settings.circuit_breaker) {
        plan.breaker.emplace();
    }
    plan.notify = cluster_notifier(options);
    core::couchbase::retry_budget budget;
    const std::uint32_t tokens = options.retry_budget.value_or(settings.retry_budget);
    if (tokens != 0)
        budget = core::token_bucket{core::tokens::whole(static_cast<std::int32_t>(tokens))};
    auto made = std::make_shared<cluster_state>(
        in, std::make_shared<shell::couchbase::kv_cluster>(in, std::move(plan)), options.strategy,
        budget);
    made->on_retry = retry_notifier(options);
    made->observation = observation;
    return made;
}

}  // namespace

result<shell::couchbase::login> login_of(runtime::world& in,
                                         const core::couchbase::cluster_settings& settings,
                                         const authenticator& with)
{
    shell::couchbase::login made;
    runtime::tls_options tls;
    tls.ca_file = settings.tls.trust_certificate;
    tls.ca_text = settings.tls.trusted_certificates;
    if (!tls.ca_file && !tls.ca_text && core::couchbase::is_capella(settings)) {
        tls.ca_text = core::couchbase::capella_root_certificate();
        tls.with_system_cas = true;
    }
    tls.verify_peer = settings.tls.verify == core::couchbase::tls_verify::peer;
    tls.verify_hostname = tls.verify_peer;
    if (const auto* const one = std::get_if<password>(&with)) {
        core::couchbase::password_credential credential;
        credential.user = one->user;
        credential.password = one->text;
        made.credential = std::move(credential);
    } else if (const auto* const token = std::get_if<bearer_token>(&with)) {
        if (!settings.tls.enabled)
            return unusable("authenticator",
                            "a bearer token is sent inside TLS only: couchbases://");
        core::couchbase::token_credential credential;
        credential.jwt = token->jwt;
        made.credential = std::move(credential);
    } else {
        const auto& certificate = std::get<client_certificate>(with);
        if (!settings.tls.enabled)
            return unusable("authenticator", "a client certificate needs TLS: couchbases://");
        tls.certificate_key_file = certificate.pem_file;
        tls.certificate_key_password = certificate.key_password;
        made.credential = core::couchbase::certificate_credential{};
    }
    if (!settings.tls.enabled)
        return made;
    auto layer = in.tls(tls);
    if (!layer)
        return std::move(layer).error();
    made.tls = *std::move(layer);
    return made;
}

result<std::shared_ptr<cluster_impl>> cluster_impl::make(const world_maker& make_world,
                                                         std::string_view connection_string,
                                                         cluster_options options,
                                                         std::shared_ptr<log_sink> fallback_log,
                                                         blocking_maker make_blocking,
                                                         const place_maker& for_observers)
{
    if (auto wrong = check_thresholds(options))
        return *std::move(wrong);
    auto parsed = core::couchbase::parse_connection_string(connection_string);
    if (!parsed)
        return std::move(parsed).error();
    if (!options.trusted_certificates.empty())
        parsed->settings.tls.trusted_certificates = options.trusted_certificates;
    auto more = validate(parsed->settings);
    if (!more)
        return std::move(more).error();
    parsed->warnings.insert(parsed->warnings.end(), more->begin(), more->end());
    if (options.retry_budget > core::couchbase::largest_retry_budget)
        return unusable("retry_budget", "a number from 0 to 1000000");
    if (options.strict && !parsed->warnings.empty())
        return error{errc::invalid_argument, "connection string: " + parsed->warnings.front()};
    show_warnings(options.log ? options.log : fallback_log, parsed->warnings);
    auto in = make_world(parsed->settings);
    auto login = login_of(*in, parsed->settings, options.authenticator);
    if (!login)
        return std::move(login).error();
    return std::make_shared<cluster_impl>(std::move(in), std::move(parsed->settings),
                                          *std::move(login), options, std::move(make_blocking),
                                          for_observers);
}

cluster_impl::cluster_impl(std::shared_ptr<runtime::world> in,
                           core::couchbase::cluster_settings from, shell::couchbase::login login,
                           const cluster_options& options, blocking_maker make_blocking,
                           const place_maker& for_observers)
    : world{std::move(in)},
      settings{std::move(from)},
      state{make_state(world, settings, std::move(login), options, std::move(make_blocking),
                       for_observers)},
      plans{std::make_shared<shared_prepared_cache>()}
{
}

cluster_impl::~cluster_impl()
{
    state->close();
    if (state->observation)
        state->observation->abandon();
    const runtime::executor on = world->executor();
    if (!on || nodes().tasks().running() == 0)
        return;  // nothing runs, or never will again: the context has gone before the cluster
    boost::asio::co_spawn(on, outlive(state), boost::asio::detached);
}

runtime::awaitable<void> cluster_impl::close(std::shared_ptr<cluster_impl> self)
{
    self->state->close();
    co_await self->nodes().ended();
    if (self->state->observation)
        co_await self->state->observation->close();
}

result<void> cluster_impl::set_authenticator(const authenticator& next)
{
    auto login = login_of(*world, settings, next);
    if (!login)
        return std::move(login).error();
    nodes().replace_login(*std::move(login));
    return {};
}

std::unique_ptr<shell::couchbase::kv_call::extras> details::copy_extras(
    const retry_strategy_ptr* strategy, const client_context* context, const trace_parent* parent)
{
    auto made = std::make_unique<shell::couchbase::kv_call::extras>();
    if (strategy != nullptr)
        made->strategy = *strategy;
    if (context != nullptr)
        made->context = std::make_shared<const client_context>(*context);
    if (parent != nullptr)
        made->parent = *parent;
    return made;
}

kv_bucket* collection_place::open_first() const
{
    cluster->nodes().start();
    const auto opened = cluster->nodes().bucket(names->bucket);
    bucket_.store(opened.get(), std::memory_order_release);
    return opened.get();
}

namespace {

enum class readiness : std::uint8_t { yes, no, hopeless };

/// Whether a bucket, or the cluster as such, can be used.
readiness readiness_of(shell::couchbase::kv_cluster& nodes, const kv_bucket& of,
                       std::optional<core::couchbase::health::fact>& why)
{
    why = nodes.with_facts([&](const core::couchbase::health& facts) {
        return facts.terminal_fact(core::couchbase::service_type::key_value, of.name());
    });
    if (why)
        return readiness::hopeless;
    const auto links = of.links();
    const auto is_connected = [](const auto& link) {
        return link->where() == kv_link::stage::connected;
    };
    if (of.name().empty())
        return std::ranges::any_of(links, is_connected) ? readiness::yes : readiness::no;
    const bool all = of.config() != nullptr && !links.empty() &&
                     std::ranges::all_of(links, is_connected);
    return all ? readiness::yes : readiness::no;
}

}  // namespace

runtime::awaitable<result<void>> cluster_impl::ready(std::string bucket,
                                                     std::chrono::milliseconds timeout)
{
    const auto self = shared_from_this();
    const time_point until = world->steady_now() + timeout;
    nodes().start();
    const auto of = nodes().bucket(bucket);
    for (;;) {
        const std::uint64_t seen = of->changed().count();
        if (nodes().is_closed())
            co_return error{errc::closed, "the cluster is closed"};
        std::optional<core::couchbase::health::fact> why;
        const readiness is = readiness_of(nodes(), *of, why);
        if (is == readiness::yes)
            co_return result<void>{};
        if (is == readiness::hopeless)
            co_return core::couchbase::error_for(
                why->reason, why->detail + ": " + of->waiting_for(world->steady_now()));
        const runtime::wait_end end = co_await of->changed().wait(seen, until);
        if (end == runtime::wait_end::cancelled)
            co_return error{errc::request_canceled, "cancelled while it waited to be ready"};
        if (end == runtime::wait_end::timed_out)
            co_return error{errc::unambiguous_timeout,
                            "not ready in time: " + of->waiting_for(world->steady_now())};
    }
}

}  // namespace holdfast::couchbase
