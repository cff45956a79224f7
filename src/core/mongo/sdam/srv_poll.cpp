#include "core/mongo/sdam/srv_poll.hpp"

#include "core/mongo/settings/address.hpp"
#include "core/mongo/settings/draw_order.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {
namespace {

struct verified {
    std::vector<endpoint> hosts = {};
    std::vector<effect> warnings = {};
};

verified verify(const std::vector<srv_host>& records, const srv_poll_settings& settings)
{
    verified all;
    for (const srv_host& record : records) {
        const std::string_view host{record.host.data(),
                                    record.host.size() - record.host.ends_with('.')};
        if (!settings.shares_domain(settings.srv.host, host)) {
            all.warnings.push_back(warn{"SRV records of " + settings.srv.host + ": " +
                                        std::string{host} +
                                        " lies outside the domain and is ignored"});
            continue;
        }
        auto address = parse_address(std::string{host} + ':' + std::to_string(record.port));
        if (address)
            all.hosts.push_back(*std::move(address));
        else
            all.warnings.push_back(warn{"SRV records of " + settings.srv.host + ": " +
                                        address.error().message() + "; it is ignored"});
    }
    return all;
}

/// Nothing is known of how long that will hold, and it had better not be long.
srv_poll_outcome unchanged(const topology_ptr& before, const srv_poll_settings& settings,
                           std::vector<effect> warnings, const std::string& why)
{
    warnings.push_back(warn{"SRV records of " + settings.srv.host + ": " + why +
                            "; the servers stay as they are"});
    return {{before, std::move(warnings)}, settings.heartbeat_frequency};
}

}  // namespace

bool polls_srv(const topology_description& t, const std::optional<srv_settings>& srv) noexcept
{
    switch (t.type) {
    case topology_type::unknown:
    case topology_type::sharded:
        return srv.has_value();
    case topology_type::single:
    case topology_type::replica_set_no_primary:
    case topology_type::replica_set_with_primary:
    case topology_type::load_balanced:
        return false;
    }
    return false;
}

duration srv_rescan_interval(std::span<const srv_host> records) noexcept
{
    if (records.empty())
        return min_srv_rescan_interval;
    const auto shortest = std::ranges::min(records, {}, &srv_host::ttl).ttl;
    return std::max(shortest, min_srv_rescan_interval);
}

srv_poll_outcome apply_srv_poll(const topology_ptr& before,
                                const result<std::vector<srv_host>>& answer,
                                const srv_poll_settings& settings, std::span<const double> chances)
{
    if (!polls_srv(*before, settings.srv))
        return {{before}};  // it has become a replica set meanwhile
    if (!answer)
        return unchanged(before, settings, {}, answer.error().message());
    std::vector<srv_host> records = *answer;
    draw_order(records, chances);
    verified found = verify(records, settings);
    if (found.hosts.empty())
        return unchanged(before, settings, std::move(found.warnings), "there is no host in them");
    srv_poll_outcome made{apply_srv(before, found.hosts, settings.srv.max_hosts),
                          srv_rescan_interval(records)};
    made.change.effects.insert(made.change.effects.begin(), found.warnings.begin(),
                               found.warnings.end());
    return made;
}

}  // namespace holdfast::core::mongo
