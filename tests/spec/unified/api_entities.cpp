#include "api_entities.hpp"

#include "api/mongo/access.hpp"
#include "arguments.hpp"
#include "core/mongo/uri/option_table.hpp"
#include "core/mongo/uri/uri.hpp"
#include "operations.hpp"
#include "session_inside.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <iterator>

namespace holdfast::spec::unified {

namespace asio = boost::asio;

bson::document api_session::lsid() const
{
    if (const auto id = api.id())
        known_as = id;
    return known_as ? bson::doc("id", *known_as) : bson::document{};
}

bool api_session::dirty() const
{
    return was_dirty || is_dirty(api);
}

void api_session::end()
{
    (void)lsid();
    was_dirty = dirty();
    api.end();
}

api_session& session_named(const context& in, std::string_view id)
{
    return static_cast<api_session&>(in.named.get<session_entity>(id));
}

namespace {

/// The value of an option as a connection string has it.
std::string option_text(const bson::element& value)
{
    if (value.type() == bson::type::string)
        return std::string{value.as_string()};
    if (value.type() == bson::type::boolean)
        return value.as_bool() ? "true" : "false";
    if (const auto number = value.get<std::int64_t>())
        return std::to_string(*number);
    throw case_failure{"uriOptions: " + std::string{value.key()} + " is " + shown(value) +
                       ", which the runner cannot put into a connection string"};
}

/// A connection string that is not understood in part is only warned of, and the case would run
/// without what it asks for.
void demand_taken(const std::string& name, const std::string& value)
{
    const core::mongo::option_alias* const alias = core::mongo::option_table().find_alias(name);
    const core::mongo::option* const known = core::mongo::find_option(alias ? alias->stands_for
                                                                            : name);
    demand(known != nullptr, "uriOptions: " + name + " is not known");
    core::mongo::client_settings unused;
    const core::mongo::reading reading = core::mongo::take_value(*known, unused, value);
    demand(reading.is == core::mongo::reading::status::taken,
           "uriOptions: " + name + " cannot be " + value +
               "; allowed: " + core::mongo::allowed_values(*known));
}

deployment::uri_options options_of(fields& what, const context& in)
{
    deployment::uri_options made;
    made.emplace_back("resilienceProfile", in.profile);
    if (!in.rescue)
        made.emplace_back("rescueFromDeposedPrimary", "false");
    const auto given = what.document_if("uriOptions");
    if (!given)
        return made;
    for (const bson::element& one : *given) {
        // Options that drivers may have, and that this library does not.
        if (one.key() == "waitQueueSize" || one.key() == "waitQueueMultiple")
            throw case_skipped{"needs the option " + std::string{one.key()} +
                               ", which drivers need not have and this library does not"};
        const auto add = [&](const bson::element& value) {
            made.emplace_back(one.key(), option_text(value));
            demand_taken(made.back().first, made.back().second);
        };
        if (one.key() == "readPreferenceTags" && one.type() == bson::type::array)
            std::ranges::for_each(one.as_array(), add);  // each is a set of tags
        else
            add(one);
    }
    return made;
}

mongo::server_api api_of(bson::view given)
{
    fields what{given, "serverApi"};
    mongo::server_api made;
    made.version = what.text("version");
    made.strict = what.flag("strict");
    made.deprecation_errors = what.flag("deprecationErrors");
    what.finish();
    return made;
}

std::shared_ptr<client_entity> new_client(context& in, const entity_description& from)
{
    fields what{from.fields, "client " + std::string{from.id}};
    for (const char* const known :
         {"id", "observeEvents", "ignoreCommandMonitoringEvents", "observeSensitiveCommands",
          "storeEventsAsEntities", "observeLogMessages", "awaitMinPoolSizeMS"})
        (void)what.any(known);
    if (what.any("autoEncryptOpts"))
        throw case_skipped{"needs client-side encryption"};
    if (what.any("observeTracingMessages"))
        throw case_skipped{"needs OpenTelemetry"};
    const bool several = what.flag("useMultipleMongoses").value_or(false);
    const std::string uri = in.lab.servers().uri(several, options_of(what, in));
    auto events = std::make_shared<client_events>(from.fields, in.named);
    auto news = std::make_shared<runtime::event>(*in.world);
    events->on_recorded = [news] { news->notify(); };
    auto messages = std::make_shared<client_messages>(from.fields);
    mongo::client_options options;
    options.listeners.push_back(events);
    options.log = messages;
    options.log_document_length = 1'000'000;  // whole documents are compared
    if (const auto api = what.document_if("serverApi"))
        options.server_api = api_of(*api);
    what.finish();
    auto made = mongo::access::in_world(in.world, uri, options);
    demand(made.has_value(), made ? "" : "client: " + made.error().explain());
    auto entity = std::make_shared<client_entity>(
        client_entity{*std::move(made), std::move(events), std::move(messages), std::move(news)});
    entity->min_pool_size = core::mongo::parse_uri(uri).value().settings.pool.min_size;
    return entity;
}

/// Clients of other drivers look for their servers as soon as they are made; ours when asked to.
runtime::awaitable<void> begin(std::shared_ptr<client_entity> one)
{
    try {
        co_await one->api.ready();
    } catch (const failure&) {
        // Its operations will fail.
    }
}

bool has_data(const mongo::server_description& server)
{
    constexpr std::string_view kinds[] = {"Standalone", "RSPrimary", "RSSecondary", "Mongos",
                                          "LoadBalancer"};
    return std::ranges::find(kinds, server.type) != std::end(kinds);
}

/// One that is still Unknown may turn out to have data; one that failed to answer has none.
bool may_have_data(const mongo::server_description& server)
{
    return has_data(server) || (server.type == "Unknown" && !server.failure);
}

/// Each server with data (or the load balancer) has its connections, and there is one.
bool pools_are_filled(const client_entity& one)
{
    if (one.min_pool_size == 0)
        return true;
    const mongo::topology_description now = one.events->topology();
    return std::ranges::any_of(now.servers, has_data) &&
           std::ranges::none_of(now.servers, [&](const mongo::server_description& server) {
               return may_have_data(server) &&
                      one.events->ready(server.address) < one.min_pool_size;
           });
}

/// "awaitMinPoolSizeMS". Events until then are not for the case.
runtime::awaitable<void> fill_pools(std::shared_ptr<context> in, std::shared_ptr<client_entity> one,
                                    duration limit)
{
    const time_point until = in->world->steady_now() + limit;
    for (;;) {
        const auto seen = one->news->count();
        if (pools_are_filled(*one))
            break;
        const auto end = co_await one->news->wait(seen, until);
        if (end != runtime::wait_end::notified)
            throw case_failure{"awaitMinPoolSizeMS: a pool has not its connections in time\n" +
                               one->api.dump_state()};
    }
    one->events->forget();
    one->messages->forget();
}

mongo::defaults defaults_of(std::optional<bson::view> given, const std::string& whose)
{
    mongo::defaults made;
    if (!given)
        return made;
    fields what{*given, whose};
    made.read_concern = what.read_concern();
    made.write_concern = what.write_concern();
    made.read_preference = what.read_preference();
    made.timeout = what.ms("timeoutMS");
    what.finish();
    return made;
}

void make_database(context& in, const entity_description& from)
{
    fields what{from.fields, "database " + std::string{from.id}};
    (void)what.any("id");
    auto of = in.named.share<client_entity>(what.text("client"));
    const std::string_view name = what.text("databaseName");
    const mongo::defaults options = defaults_of(what.document_if("databaseOptions"),
                                                "databaseOptions");
    what.finish();
    auto api = of->api.database(name, options);
    in.named.add(from.id,
                 std::make_shared<database_entity>(database_entity{std::move(api), std::move(of)}));
}

void make_collection(context& in, const entity_description& from)
{
    fields what{from.fields, "collection " + std::string{from.id}};
    (void)what.any("id");
    const auto database = in.named.share<database_entity>(what.text("database"));
    const std::string_view name = what.text("collectionName");
    const mongo::defaults options = defaults_of(what.document_if("collectionOptions"),
                                                "collectionOptions");
    what.finish();
    in.named.add(from.id, std::make_shared<collection_entity>(collection_entity{
                              database->api.collection(name, options), database->of}));
}

mongo::session_options session_options_of(const context& in, std::optional<bson::view> given)
{
    mongo::session_options made;
    if (!given)
        return made;
    fields what{*given, "sessionOptions"};
    if (what.any("defaultTransactionOptions") || what.any("defaultTimeoutMS"))
        throw case_skipped{"needs transactions"};
    made.causal_consistency = what.flag("causalConsistency");
    made.snapshot = what.flag("snapshot").value_or(false);
    if (const std::string_view at = what.text_if("snapshotTime"); !at.empty()) {
        const bson::document kept = in.named.value_of(at);
        const auto time = kept.find("v").get<bson::timestamp>();
        demand(time.has_value(), "snapshotTime: " + std::string{at} + " is no timestamp");
        made.snapshot_time = *time;
    }
    what.finish();
    return made;
}

void make_session(context& in, const entity_description& from)
{
    fields what{from.fields, "session " + std::string{from.id}};
    (void)what.any("id");
    const auto of = in.named.share<client_entity>(what.text("client"));
    const mongo::session_options options = session_options_of(in,
                                                              what.document_if("sessionOptions"));
    what.finish();
    auto made = std::make_shared<api_session>(of->api.start_session(options));
    if (const auto& known = in.lab.prepared_at())
        made->api.advance_cluster_time(*known);
    in.named.add(from.id, std::shared_ptr<session_entity>{std::move(made)});
}

runtime::awaitable<void> work(std::shared_ptr<context> in, std::shared_ptr<thread_entity> thread)
{
    while (!thread->closing || !thread->waiting.empty()) {
        const auto seen = thread->news.count();
        if (thread->waiting.empty()) {
            co_await thread->news.wait(seen);
            continue;
        }
        const operation next = thread->waiting.front();
        thread->waiting.pop_front();
        try {
            co_await execute(in, next);
        } catch (const std::exception& e) {
            if (!thread->failed)
                thread->failed = std::string{next.name} + ": " + e.what();
        }
    }
    thread->ended = true;
    thread->news.notify();
}

}  // namespace

runtime::awaitable<void> make_entity(std::shared_ptr<context> in, entity_description what)
{
    if (what.kind == "client") {
        auto made = new_client(*in, what);
        in->named.add(what.id, made);
        co_await begin(made);
        const auto limit = fields{what.fields, "client"}.ms("awaitMinPoolSizeMS");
        if (limit)
            co_await fill_pools(in, made, *limit);
    } else if (what.kind == "database") {
        make_database(*in, what);
    } else if (what.kind == "collection") {
        make_collection(*in, what);
    } else if (what.kind == "session") {
        make_session(*in, what);
    } else if (what.kind == "thread") {
        auto made = std::make_shared<thread_entity>(*in->world);
        in->named.add(what.id, made);
        in->lab.servers().start(work(in, std::move(made)));
    } else if (what.kind == "bucket") {
        throw case_skipped{"needs GridFS"};
    } else if (what.kind == "clientEncryption") {
        throw case_skipped{"needs client-side encryption"};
    } else {
        throw case_failure{"the runner knows no entity of the kind " + std::string{what.kind}};
    }
}

}  // namespace holdfast::spec::unified
