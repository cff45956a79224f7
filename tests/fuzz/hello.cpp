// Whatever a server answers to hello, or to a command, the topology stays one that makes sense.
#include "core/mongo/sdam/application_error.hpp"
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/settings/address.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

using namespace holdfast;
using namespace holdfast::core::mongo;

constexpr time_point now{std::chrono::hours{1}};

void check(const topology_description& t)
{
    const auto is_primary = [](const server_ptr& s) { return s->type == server_type::rs_primary; };
    const auto primaries = std::ranges::count_if(t.servers, is_primary);
    REQUIRE(primaries <= 1);
    if (t.type == topology_type::replica_set_with_primary)
        REQUIRE(primaries == 1);
    if (t.type == topology_type::replica_set_no_primary)
        REQUIRE(primaries == 0);
    REQUIRE(std::ranges::is_sorted(t.servers, {},
                                   [](const server_ptr& s) { return s->address.value(); }));
}

topology_ptr start()
{
    topology_settings settings;
    settings.seeds = {reported_address("a"), reported_address("b")};
    return open_topology(settings).after;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    topology_ptr topology = start();
    const endpoint from[] = {reported_address("a"), reported_address("b")};
    std::span<const std::uint8_t> rest{data, size};
    for (int i = 0; i < 8; ++i) {
        const auto reply = bson::view::parse_prefix(rest);
        if (!reply)
            break;
        rest = rest.subspan(reply->size());
        topology = apply_check(topology, parse_hello(from[i % 2], *reply, {}, now)).after;
        check(*topology);
        const application_error failed{
            .server = from[i % 2],
            .kind = failure_kind::command,
            .cause = error{bson::errc::invalid_value, "as the reply says"},
            .reply = *reply};
        topology = apply_error(topology, failed, 0, as_specified, now).after;
        check(*topology);
    }
    return 0;
}
