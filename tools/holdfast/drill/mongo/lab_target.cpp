#include "tools/holdfast/drill/mongo/lab_target.hpp"

#include "holdfast/bson/builder.hpp"

#include <utility>

namespace holdfast::drill {

mongo_lab_target::mongo_lab_target(lab::mongo_cluster servers, mongo::sync::client admin) noexcept
    : servers_{std::move(servers)}, admin_{std::move(admin)}
{
}

result<std::unique_ptr<mongo_lab_target>> mongo_lab_target::start(lab::mongo_options options)
{
    auto servers = lab::mongo_cluster::start(std::move(options));
    if (!servers)
        return std::move(servers).error();
    auto admin = mongo::sync::client::create(servers->uri());
    if (!admin)
        return std::move(admin).error();
    return std::unique_ptr<mongo_lab_target>{
        new mongo_lab_target{*std::move(servers), *std::move(admin)}};
}

result<std::size_t> mongo_lab_target::await_leader()
{
    return servers_.wait_for_primary();
}

result<void> mongo_lab_target::step_down(std::chrono::seconds stays_down)
{
    return servers_.step_down(stays_down);
}

result<void> mongo_lab_target::crash(std::size_t member)
{
    return servers_.crash(member);
}

result<void> mongo_lab_target::restart(std::size_t member)
{
    return servers_.restart(member);
}

result<void> mongo_lab_target::freeze(std::size_t member)
{
    return servers_.freeze(member);
}

result<void> mongo_lab_target::thaw(std::size_t member)
{
    return servers_.thaw(member);
}

result<void> mongo_lab_target::limit_requests(std::int32_t per_second)
{
    const bool on = per_second > 0;
    const std::int32_t rate = on ? per_second : 2147483647;
    // The burst capacity is a tenth of a second's worth.
    const bson::document command = bson::doc("setParameter", 1, "ingressRequestAdmissionRatePerSec",
                                             rate, "ingressRequestAdmissionBurstCapacitySecs",
                                             on ? 0.1 : 1e9, "ingressRequestRateLimiterEnabled",
                                             on);
    auto done = admin_.try_run_command("admin", command);
    if (!done)
        return std::move(done).error();
    return {};
}

}  // namespace holdfast::drill
