#include "core/couchbase/settings/cluster_settings.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <bit>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;

error invalid_setting(std::string_view option, std::string_view what)
{
    return error{errc::invalid_argument, std::string{option} + ": " + std::string{what}}
        .with_context("option", std::string{option});
}

bool is_power_of_two_up_to(std::uint32_t number, std::uint32_t most) noexcept
{
    return std::has_single_bit(number) && number <= most;
}

result<void> check_kv(const kv_settings& kv)
{
    if (!is_power_of_two_up_to(kv.connections, most_kv_connections))
        return invalid_setting("kv_connections", "a power of two from 1 to 64");
    if (!is_power_of_two_up_to(kv.max_in_flight, most_in_flight))
        return invalid_setting("max_in_flight", "a power of two from 1 to 65536");
    return {};
}

}  // namespace

result<std::vector<std::string>> validate(const cluster_settings& settings)
{
    if (settings.seeds.empty())
        return error{errc::invalid_argument, "there is no host to connect to"};
    if (auto checked = check_kv(settings.kv); !checked)
        return std::move(checked).error();
    if (settings.config_poll.floor > settings.config_poll.interval)
        return invalid_setting("config_poll_floor", "it is longer than config_poll_interval");
    const cluster_tls_settings& tls = settings.tls;
    const char* const trusted = tls.trust_certificate      ? "trust_certificate"
                                : tls.trusted_certificates ? "trusted_certificates"
                                                           : nullptr;
    if (tls.enabled && trusted != nullptr && tls.verify == tls_verify::none)
        return invalid_setting("tls_verify", std::string{"with none, "} + trusted +
                                                 " would be ignored; give one of them");

    std::vector<std::string> warnings;
    if (!tls.enabled && trusted != nullptr)
        warnings.emplace_back(std::string{trusted} + ": has no effect without couchbases://");
    if (!tls.enabled && tls.verify == tls_verify::none)
        warnings.emplace_back("tls_verify: has no effect without couchbases://");
    if (tls.enabled && tls.verify == tls_verify::none)
        warnings.emplace_back(
            "tls_verify: with none, anyone on the network path can read and change all traffic");
    if (settings.kv.tcp_keep_alive_interval != kv_settings{}.tcp_keep_alive_interval)
        warnings.emplace_back(
            "tcp_keep_alive_interval: has no effect; the probes begin after 120 s of silence");
    if (settings.preserve_bootstrap_nodes_order)
        warnings.emplace_back(
            "preserve_bootstrap_nodes_order: has no effect; all hosts are tried at once");
    if (settings.timeouts.kv_durable < settings.timeouts.kv)
        warnings.emplace_back("kv_durable_timeout: is shorter than kv_timeout");
    return warnings;
}

}  // namespace holdfast::core::couchbase
