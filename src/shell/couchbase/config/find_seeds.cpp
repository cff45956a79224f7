#include "shell/couchbase/config/find_seeds.hpp"

#include "core/couchbase/uri/connection_string.hpp"

#include <utility>

namespace holdfast::shell::couchbase {

runtime::awaitable<found_seeds> find_seeds(runtime::world& in,
                                           core::couchbase::cluster_settings settings)
{
    found_seeds found;
    if (!settings.srv_name || !settings.enable_dns_srv) {
        found.seeds = std::move(settings.seeds);
        co_return std::move(found);
    }
    const time_point until = in.steady_now() + settings.timeouts.resolve;
    auto records = co_await in.resolve_srv(*settings.srv_name, until);
    std::vector<core::couchbase::srv_record> hosts;
    if (records) {
        for (runtime::srv_record& one : *records)
            hosts.push_back({std::move(one.host), one.port});
    } else {
        found.srv_problem = std::move(records).error();
    }
    found.seeds = core::couchbase::with_srv_records(std::move(settings), hosts).seeds;
    co_return std::move(found);
}

}  // namespace holdfast::shell::couchbase
