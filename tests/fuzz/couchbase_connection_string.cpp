// Any text as a Couchbase connection string. It is refused, or its settings are valid and can be
// written option by option.
#include "core/couchbase/uri/cluster_options.hpp"
#include "core/couchbase/uri/connection_string.hpp"
#include "core/uri/host.hpp"
#include "core/uri/option_value.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "require.hpp"

using namespace holdfast::core;
using namespace holdfast::core::couchbase;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto parsed = parse_connection_string(text);
    if (!parsed) {
        REQUIRE(parsed.error().code() == holdfast::couchbase::errc::invalid_argument);
        return 0;
    }
    REQUIRE(validate(parsed->settings));
    REQUIRE(!parsed->settings.seeds.empty() && parsed->settings.seeds.size() <= most_seeds);
    for (const holdfast::endpoint& seed : parsed->settings.seeds) {
        const auto parts = uri::split_host(seed.value());
        REQUIRE(parts.problem.empty() && parts.port);
        REQUIRE(uri::join_host(parts.host, *parts.port) == seed.value());
    }
    for (const cluster_option& which : cluster_option_table().options)
        for (const std::string& value : uri::written(which, parsed->settings)) {
            cluster_settings again;
            REQUIRE(uri::take_value(which, again, value).is == uri::reading::status::taken);
            REQUIRE(uri::written(which, again) == std::vector{value});
        }
    const srv_record records[] = {{std::string{text.substr(0, 300)}, 7}};
    REQUIRE(!with_srv_records(parsed->settings, records).seeds.empty());
    return 0;
}
