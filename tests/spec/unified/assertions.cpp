#include "arguments.hpp"
#include "operations.hpp"
#include "results.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

/// Operations of the runner that only look.
namespace holdfast::spec::unified {
namespace {

using boost::asio::use_awaitable;
using outcome_later = runtime::awaitable<outcome_of_operation>;

outcome_later assert_event_count(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const client_entity& of = in->named.get<client_entity>(given.text("client"));
    const bson::view event = given.document("event");
    const auto count = given.number("count");
    demand(count.has_value(), "assertEventCount: argument count is missing");
    given.finish();
    const auto found = static_cast<std::int64_t>(of.events->count(event, in->rules));
    demand(found == *count, "assertEventCount: " + std::to_string(found) + " instead of " +
                                std::to_string(*count) + " events: " + shown(event));
    co_return gave_nothing();
}

outcome_later assert_checked_out(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const client_entity& of = in->named.get<client_entity>(given.text("client"));
    const auto expected = given.number("connections");
    demand(expected.has_value(), "assertNumberConnectionsCheckedOut: connections is missing");
    given.finish();
    const std::int64_t found = of.events->checked_out();
    demand(found == *expected, "assertNumberConnectionsCheckedOut: " + std::to_string(found) +
                                   " instead of " + std::to_string(*expected));
    co_return gave_nothing();
}

outcome_later compare_lsids(context_ptr in, const operation& what, bool same)
{
    arguments given{*in, what};
    const client_entity& of = in->named.get<client_entity>(given.text("client"));
    given.finish();
    const auto [one, other] = of.events->last_two_lsids();
    demand((one == other) == same,
           std::string{what.name} + ": they are " + shown(one) + " and " + shown(other));
    co_return gave_nothing();
}
outcome_later assert_same_lsid(context_ptr in, const operation& what)
{
    return compare_lsids(std::move(in), what, true);
}
outcome_later assert_different_lsid(context_ptr in, const operation& what)
{
    return compare_lsids(std::move(in), what, false);
}

outcome_later check_dirty(context_ptr in, const operation& what, bool dirty)
{
    arguments given{*in, what};
    const api_session& which = session_named(*in, given.text("session"));
    given.finish();
    demand(which.dirty() == dirty,
           std::string{what.name} + (dirty ? ": it is not dirty" : ": it is dirty"));
    co_return gave_nothing();
}
outcome_later assert_dirty(context_ptr in, const operation& what)
{
    return check_dirty(std::move(in), what, true);
}
outcome_later assert_not_dirty(context_ptr in, const operation& what)
{
    return check_dirty(std::move(in), what, false);
}

/// Whether a list of the server's has something of that name.
runtime::awaitable<bool> lists(context_ptr in, std::string database, bson::document command,
                               std::string name)
{
    constexpr std::int32_t namespace_not_found = 26;
    const mongo::client& by = in->lab.own();
    const auto reply = co_await by.run_command(database, command, {}, use_awaitable);
    if (!reply && reply.error().code().value() == namespace_not_found)
        co_return false;
    demand(reply.has_value(), reply ? "" : "the runner's list: " + reply.error().explain());
    const bson::element batch = reply->find_path("cursor.firstBatch");
    demand(batch.type() == bson::type::array, "the runner's list: " + shown(reply->view()));
    const bson::array_view all = batch.as_array();
    for (const bson::element& one : all) {
        if (one.as_document().get<std::string>("name").value_or("") == name)
            co_return true;
    }
    co_return false;
}

outcome_later check_collection(context_ptr in, const operation& what, bool exists)
{
    arguments given{*in, what};
    const std::string database{given.text("databaseName")};
    const std::string name{given.text("collectionName")};
    given.finish();
    bson::document command = bson::doc("listCollections", 1, "filter", bson::object("name", name));
    const bool found = co_await lists(in, database, std::move(command), name);
    demand(found == exists, std::string{what.name} + ": " + database + "." + name +
                                (found ? " exists" : " does not exist"));
    co_return gave_nothing();
}
outcome_later assert_collection_exists(context_ptr in, const operation& what)
{
    return check_collection(std::move(in), what, true);
}
outcome_later assert_collection_not_exists(context_ptr in, const operation& what)
{
    return check_collection(std::move(in), what, false);
}

outcome_later check_index(context_ptr in, const operation& what, bool exists)
{
    arguments given{*in, what};
    const std::string database{given.text("databaseName")};
    const std::string_view collection = given.text("collectionName");
    const std::string name{given.text("indexName")};
    given.finish();
    bson::document command = bson::doc("listIndexes", collection);
    const bool found = co_await lists(in, database, std::move(command), name);
    demand(found == exists,
           std::string{what.name} + ": " + name + (found ? " exists" : " does not exist"));
    co_return gave_nothing();
}
outcome_later assert_index_exists(context_ptr in, const operation& what)
{
    return check_index(std::move(in), what, true);
}
outcome_later assert_index_not_exists(context_ptr in, const operation& what)
{
    return check_index(std::move(in), what, false);
}

outcome_later assert_topology_type(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const auto& of = in->named.get<topology_entity>(given.text("topologyDescription"));
    const std::string_view expected = given.text("topologyType");
    given.finish();
    demand(of.description.type == expected, "assertTopologyType: it is " + of.description.type);
    co_return gave_nothing();
}

constexpr named_operation assertions_table[] = {
    {"assertEventCount", assert_event_count},
    {"assertNumberConnectionsCheckedOut", assert_checked_out},
    {"assertSameLsidOnLastTwoCommands", assert_same_lsid},
    {"assertDifferentLsidOnLastTwoCommands", assert_different_lsid},
    {"assertSessionDirty", assert_dirty},
    {"assertSessionNotDirty", assert_not_dirty},
    {"assertCollectionExists", assert_collection_exists},
    {"assertCollectionNotExists", assert_collection_not_exists},
    {"assertIndexExists", assert_index_exists},
    {"assertIndexNotExists", assert_index_not_exists},
    {"assertTopologyType", assert_topology_type},
};

}  // namespace

std::span<const named_operation> assertions() noexcept
{
    return assertions_table;
}

}  // namespace holdfast::spec::unified
