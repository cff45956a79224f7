#include "running_lab.hpp"

#include "../case_fields.hpp"
#include "api/mongo/access.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/error.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace holdfast::spec::unified {

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::int32_t namespace_not_found = 26;
constexpr std::int32_t not_writable_primary = 10107;

bson::document with_majority(std::string_view name, std::string_view value)
{
    return bson::doc(name, value, "writeConcern", bson::object("w", "majority"));
}

bson::document create_command(const collection_data& what)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("create", what.collection).merge(what.create_options);
    out.add("writeConcern", bson::object("w", "majority"));
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

bson::document insert_command(const collection_data& what)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("insert", what.collection);
    {
        auto documents = out.array("documents");
        for (const bson::view one : what.documents)
            documents.add(one);
    }
    out.add("writeConcern", bson::object("w", "majority"));
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace

running_lab::running_lab(const lab_kind& which) : servers_{deployment::start(which)} {}

running_lab::~running_lab()
{
    rest();
}

void running_lab::rest()
{
    if (broken)
        return;
    broken = !servers_->run(close_clients(), 20s);
    nodes_.clear();
    own_.reset();
}

runtime::awaitable<void> running_lab::close_clients()
{
    for (const auto& [node, client] : nodes_)
        co_await client.close();
    if (own_)
        co_await own_->close();
}

mongo::client running_lab::make_client(const std::string& uri)
{
    auto made = mongo::access::in_world(servers_->world(), uri);
    demand(made.has_value(), made ? "" : "the runner's client: " + made.error().explain());
    return *std::move(made);
}

const mongo::client& running_lab::own()
{
    if (!own_)
        own_ = make_client(servers_->uri(false, {}));
    return *own_;
}

const mongo::client& running_lab::client_of(const std::string& node)
{
    auto found = nodes_.find(node);
    if (found == nodes_.end())
        found = nodes_.emplace(node, make_client(servers_->direct_uri(node))).first;
    return found->second;
}

runtime::awaitable<bson::document> running_lab::command(std::string_view database,
                                                        bson::document what,
                                                        const mongo::session* in, bool may_lack)
{
    mongo::command_options options;
    options.session = in;
    auto reply = co_await own().run_command(database, what, options, asio::use_awaitable);
    // On a busy machine a set may have elected another primary since the last case.
    for (int tries = 0; tries < 20 && !reply; ++tries) {
        if (mongo::server_code(reply.error()) != not_writable_primary)
            break;
        const std::shared_ptr<runtime::world> in_world = servers_->world();
        co_await runtime::sleep_until(*in_world, in_world->steady_now() + 100ms);
        reply = co_await own().run_command(database, what, options, asio::use_awaitable);
    }
    if (reply)
        co_return *std::move(reply);
    const bool fine = may_lack && mongo::server_code(reply.error()) == namespace_not_found;
    demand(fine, "the runner's command " + bson::to_json(what).value_or("") + ": " +
                     reply.error().explain());
    co_return bson::document{};
}

runtime::awaitable<void> running_lab::end_sessions()
{
    const bson::document kill = bson::doc("killAllSessions", bson::list());
    if (kind().routers == 0) {
        const auto done = co_await own().run_command("admin", kill, {}, asio::use_awaitable);
        demand(done.has_value(), done ? "" : "killAllSessions: " + done.error().explain());
        co_return;
    }
    for (const std::string& node : servers_->nodes()) {
        const mongo::client& to = client_of(node);
        const auto done = co_await to.run_command("admin", kill, {}, asio::use_awaitable);
        demand(done.has_value(), done ? "" : "killAllSessions: " + done.error().explain());
    }
}

runtime::awaitable<void> running_lab::fill(const collection_data& what, const mongo::session& in)
{
    co_await command(what.database, with_majority("drop", what.collection), &in, true);
    const bool create = what.documents.empty() || !what.create_options.empty();
    if (create)
        co_await command(what.database, create_command(what), &in);
    if (what.documents.empty())
        co_return;
    const bson::document reply = co_await command(what.database, insert_command(what), &in);
    demand(!reply.find("writeErrors"), "the initial data: " + bson::to_json(reply).value_or("?"));
}

/// A file without initial data must not find that of another file, whichever ran before it in this
/// process.
runtime::awaitable<void> running_lab::drop_collections(const unified_file& file)
{
    std::map<std::string_view, std::string_view> databases;
    for (const entity_description& one : file.create_entities) {
        if (one.kind == "database")
            databases[one.id] =
                one.fields.find("databaseName").get<std::string_view>().value_or("");
        if (one.kind != "collection")
            continue;
        const auto of = one.fields.find("database").get<std::string_view>();
        const auto name = one.fields.find("collectionName").get<std::string_view>();
        const auto database = databases.find(of.value_or(""));
        if (name && database != databases.end())
            co_await command(database->second, bson::doc("drop", *name), nullptr, true);
    }
}

runtime::awaitable<void> running_lab::prepare(const unified_file& file)
{
    co_await end_sessions();
    if (file.initial_data.empty()) {
        co_await drop_collections(file);
        co_return;
    }
    const mongo::session in = own().start_session();
    for (const collection_data& one : file.initial_data)
        co_await fill(one, in);
    prepared_at_ = in.cluster_time();
}

runtime::awaitable<std::vector<bson::document>> running_lab::contents(std::string_view database,
                                                                      std::string_view collection)
{
    bson::document next = bson::doc("find", collection, "sort", bson::object("_id", 1), "batchSize",
                                    100'000, "readConcern", bson::object("level", "local"));
    const bson::document reply = co_await command(database, std::move(next), nullptr);
    std::vector<bson::document> found;
    for (const bson::element& one : reply.find_path("cursor.firstBatch").as_array())
        found.emplace_back(one.as_document());
    co_return found;
}

runtime::awaitable<void> running_lab::set_fail_point(bson::document command)
{
    const auto name = command.get<std::string>("configureFailPoint");
    demand(name.has_value(), "a fail point has no name");
    remember_fail_point(*name);
    for (const std::string& node : servers_->nodes()) {
        const mongo::client& to = client_of(node);
        const auto done = co_await to.run_command("admin", command, {}, asio::use_awaitable);
        demand(done.has_value(), done ? "" : "a fail point: " + done.error().explain());
    }
}

runtime::awaitable<void> running_lab::clean()
{
    const std::set<std::string> names = std::exchange(fail_points_, {});
    if (names.empty())
        co_return;
    for (const std::string& node : servers_->nodes()) {
        const mongo::client& to = client_of(node);
        for (const std::string& name : names) {
            const bson::document off = bson::doc("configureFailPoint", name, "mode", "off");
            const auto done = co_await to.run_command("admin", off, {}, asio::use_awaitable);
            demand(done.has_value(), done ? ""
                                          : "a fail point is not turned off on " + node + ": " +
                                                done.error().explain());
        }
    }
}

namespace {

/// All that run, each started once. One at a time has clients of the runner's.
struct all_labs {
    std::map<lab_kind, std::unique_ptr<running_lab>> running;
    running_lab* in_use = nullptr;
    std::vector<std::unique_ptr<running_lab>>& left =
        *new std::vector<std::unique_ptr<running_lab>>;
};

all_labs& labs()
{
    static all_labs all;
    return all;
}

}  // namespace

running_lab& lab_for(const lab_kind& which)
{
    all_labs& all = labs();
    auto found = all.running.find(which);
    if (found != all.running.end() && found->second->broken) {
        abandon(which);
        found = all.running.end();
    }
    if (all.in_use && (found == all.running.end() || found->second.get() != all.in_use))
        all.in_use->rest();
    all.in_use = nullptr;
    if (found == all.running.end())
        found = all.running.emplace(which, std::make_unique<running_lab>(which)).first;
    all.in_use = found->second.get();
    return *all.in_use;
}

void abandon(const lab_kind& which)
{
    all_labs& all = labs();
    const auto found = all.running.find(which);
    if (found == all.running.end())
        return;
    found->second->broken = true;
    if (all.in_use == found->second.get())
        all.in_use = nullptr;
    all.left.push_back(std::move(found->second));
    all.running.erase(found);
}

}  // namespace holdfast::spec::unified
