// Any text taken for a KV error map.
#include "core/couchbase/retry/classify_kv.hpp"
#include "core/couchbase/retry/kv_error_map.hpp"
#include "require.hpp"

using namespace holdfast::core::couchbase;

namespace {

/// A map decides about unknown statuses, and about nothing else.
void check_map(const kv_error_map& map)
{
    REQUIRE(map.version() >= 1 && map.version() <= kv_error_map::newest_version);
    for (int number = 0; number <= 0x1ff; ++number) {  // all that is known, and as many again
        const auto status = static_cast<kv_status>(number);
        const error_map_entry* const entry = map.find(status);
        if (!entry)
            continue;
        const classification meant = classify_kv(kv_opcode::get, status, &map);
        if (is_known(status))
            REQUIRE(meant.reason == classify_kv(kv_opcode::get, status).reason);
        else
            REQUIRE(meant.reason.has_value() == entry->indicates_retry());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto map = kv_error_map::parse({reinterpret_cast<const char*>(data), size});
    if (!map)
        REQUIRE(map.error().code() == errc::decoding_failure && !map.error().message().empty());
    else if (map->size() > 0)
        check_map(*map);
    return 0;
}
