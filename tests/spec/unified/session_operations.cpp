#include "arguments.hpp"
#include "operations.hpp"
#include "results.hpp"

namespace holdfast::spec::unified {
namespace {

using outcome_later = runtime::awaitable<outcome_of_operation>;

outcome_later end_session(context_ptr in, const operation& what)
{
    arguments{*in, what}.finish();
    session_named(*in, what.object).end();
    co_return gave_nothing();
}

outcome_later get_snapshot_time(context_ptr in, const operation& what)
{
    arguments{*in, what}.finish();
    std::optional<bson::timestamp> at;
    try {
        at = session_named(*in, what.object).api.snapshot_time();
    } catch (const failure& failed) {
        co_return failed_with(failed.error());
    }
    if (!at)
        co_return gave_nothing();
    co_return gave(*at);
}

outcome_later append_metadata(context_ptr in, const operation& what)
{
    const mongo::client& on = in->named.get<client_entity>(what.object).api;
    arguments given{*in, what};
    fields said{given.document("driverInfoOptions"), "driverInfoOptions"};
    given.finish();
    const std::string_view name = said.text("name");
    const std::string_view version = said.text_if("version");
    const std::string_view platform = said.text_if("platform");
    said.finish();
    try {
        on.append_metadata(name, version, platform);
    } catch (const failure& failed) {
        co_return failed_with(failed.error());
    }
    co_return gave_nothing();
}

constexpr named_operation session_operations_table[] = {
    {"endSession", end_session},
    {"getSnapshotTime", get_snapshot_time},
    {"appendMetadata", append_metadata},
};

}  // namespace

std::span<const named_operation> session_operations() noexcept
{
    return session_operations_table;
}

}  // namespace holdfast::spec::unified
