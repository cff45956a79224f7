#include "sdam_client.hpp"

#include "case_fields.hpp"
#include "core/mongo/uri/uri.hpp"

#include <iterator>

namespace holdfast::spec {

using namespace core::mongo;

namespace {

topology_settings settings_of(std::string_view uri)
{
    auto parsed = parse_uri(uri);
    demand(parsed.has_value(), parsed ? "" : "the file's uri: " + parsed.error().explain());
    const client_settings& from = parsed->settings;
    return {.seeds = from.seeds,
            .replica_set = from.replica_set,
            .direct_connection = from.direct_connection,
            .load_balanced = from.load_balanced};
}

}  // namespace

sdam_client::sdam_client(std::string_view uri, const resilience_profile& profile)
    : profile_{profile}
{
    carry_out(open_topology(settings_of(uri)));
}

core::connection_pool& sdam_client::pool_of(const endpoint& server)
{
    return pools_.try_emplace(server, core::pool_settings{}, false).first->second;
}

const core::connection_pool* sdam_client::pool(const endpoint& server) const
{
    const auto at = pools_.find(server);
    return at == pools_.end() ? nullptr : &at->second;
}

void sdam_client::hear(const endpoint& from, bson::view reply)
{
    now_ += std::chrono::seconds{1};
    if (reply.empty()) {
        const error reset{make_error_code(boost::system::errc::connection_reset), "check failed"};
        return carry_out(apply_failed_check(topology_, from, reset, failure_kind::network, now_));
    }
    const round_trip_times rtt{std::chrono::milliseconds{5}, std::chrono::milliseconds{5}};
    carry_out(apply_check(topology_, parse_hello(from, reply, rtt, now_)));
}

void sdam_client::fail(application_error e, std::optional<std::uint32_t> generation)
{
    now_ += std::chrono::seconds{1};
    const std::uint32_t current = pool_of(e.server).generation();
    e.generation = generation.value_or(current);
    carry_out(apply_error(topology_, e, current, profile_, now_));
}

void sdam_client::carry_out(transition t)
{
    topology_ = std::move(t.after);
    for (const effect& e : t.effects)
        std::visit([this](const auto& one) { perform(one); }, e);
    std::ranges::move(t.events, std::back_inserter(events_));
}

void sdam_client::perform(const start_monitor& e)
{
    pool_of(e.server);
}

void sdam_client::perform(const stop_monitor& e)
{
    pools_.erase(e.server);
}

void sdam_client::perform(const mark_pool_ready& e)
{
    pool_of(e.server).mark_ready(now_);
}

void sdam_client::perform(const clear_pool& e)
{
    std::optional<core::pool_partition> partition;
    if (e.service_id)
        partition.emplace(e.service_id->bytes);
    pool_of(e.server).clear(e.cause, partition, e.interrupt_in_use, now_);
}

}  // namespace holdfast::spec
