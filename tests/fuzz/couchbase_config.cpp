// Any text taken for a cluster configuration. It is refused with a place and a reason, or every
// index in it is valid, its revision is the one that a look at the text finds, and it is taken.
#include "core/couchbase/config/network.hpp"
#include "core/couchbase/config/offer.hpp"
#include "core/couchbase/route/route.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "require.hpp"

using namespace holdfast::core::couchbase;
using holdfast::couchbase::errc;

namespace {

void check_routes(const cluster_config& config)
{
    const vbucket_map& map = config.bucket->map;
    for (std::uint32_t vbucket = 0; vbucket < map.size; ++vbucket) {
        const auto number = static_cast<std::uint16_t>(vbucket);
        for (std::size_t copy = 0; copy < map.copies(); ++copy)
            for (const auto node : {node_of(map, number, copy), forward_node_of(map, number, copy)})
                REQUIRE(!node || *node < config.nodes.size());
        copies_to_read(config, number, read_preference::selected_server_group, "east");
    }
}

void check_nodes(const cluster_config& config)
{
    REQUIRE(!config.nodes.empty() && config.nodes.size() <= max_nodes);
    const std::string network = choose_network(config, automatic_network, {"h", 11210});
    REQUIRE(has_network(config, network));
    for (const cluster_node& node : config.nodes) {
        const auto address = address_of(node, network, service_type::key_value, false);
        REQUIRE(!address || !address->value().empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto seen = peek_revision(text);
    const auto parsed = parse_config(text, "h");
    if (!parsed) {
        REQUIRE(parsed.error().code() == errc::decoding_failure ||
                parsed.error().code() == errc::feature_not_available);
        REQUIRE(!parsed.error().message().empty());
        return 0;
    }
    REQUIRE(!seen || *seen == parsed->revision);
    check_nodes(*parsed);
    if (parsed->bucket)
        check_routes(*parsed);
    REQUIRE(changes_between(*parsed, *parsed).kept.size() == parsed->nodes.size());
    config_intake intake;
    const std::string_view bucket = parsed->bucket ? std::string_view{parsed->bucket->name} : "";
    REQUIRE(intake.consider({text, "h", bucket}).is == offer_outcome::status::taken);
    REQUIRE(intake.consider({text, "h", bucket}).is == offer_outcome::status::not_newer);
    return 0;
}
