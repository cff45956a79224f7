#include "lab/mongo/router/router.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/labels.hpp"
#include "lab/mongo/router/router_commands.hpp"
#include "lab/mongo/router/routing.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr std::size_t most_cursors = 10'000;
constexpr duration pause_before_next = 10ms;

constexpr std::array own_commands{
    std::string_view{"hello"},          std::string_view{"isMaster"},
    std::string_view{"ismaster"},       std::string_view{"ping"},
    std::string_view{"buildInfo"},      std::string_view{"buildinfo"},
    std::string_view{"getParameter"},   std::string_view{"setParameter"},
    std::string_view{"saslStart"},      std::string_view{"saslContinue"},
    std::string_view{"logout"},         std::string_view{"connectionStatus"},
    std::string_view{"whatsmyuri"},     std::string_view{"configureFailPoint"},
    std::string_view{"getCmdLineOpts"}, std::string_view{"getLog"},
    std::string_view{"hostInfo"},       std::string_view{"serverStatus"},
    std::string_view{"listCommands"},   std::string_view{"connPoolStats"},
    std::string_view{"getnonce"},       std::string_view{"checkMetadataConsistency"},
};

/// Members only: no router knows them.
bool is_for_members(std::string_view name) noexcept
{
    return name.starts_with("replSet") || name.starts_with("_lab");
}

bool needs_users(const request& what)
{
    if (what.name == "saslStart")
        return true;
    return (what.name == "hello" || what.name == "isMaster" || what.name == "ismaster") &&
           (what.body.find("speculativeAuthenticate") || what.body.find("saslSupportedMechs"));
}

/// $out and $merge make a write of an aggregation.
bool writes_by_pipeline(bson::view body)
{
    const bson::element pipeline = body.find("pipeline");
    if (pipeline.type() != bson::type::array)
        return false;
    for (const bson::element& stage : pipeline.as_array()) {
        if (stage.type() != bson::type::document || stage.as_document().empty())
            continue;
        const std::string_view name = stage.as_document().begin()->key();
        if (name == "$out" || name == "$merge")
            return true;
    }
    return false;
}

/// The member says that it did nothing, because it is not the one to do it.
bool is_not_primary(std::int64_t code) noexcept
{
    return code == 10107 || code == 13435 || code == 13436;
}

/// It was interrupted by a change of roles, perhaps after it had begun.
bool is_interrupted(std::int64_t code) noexcept
{
    return code == 11602 || code == 11600 || code == 91 || code == 189;
}

}  // namespace

router::router(node& own, router_options options)
    : node_{own},
      local_{own},
      options_{std::move(options)},
      set_{own.world, options_.members, options_.tls, own.options.cluster_key}
{
    own.member = std::make_unique<routing>();
    own.add_commands(router_commands());
}

void router::stop()
{
    stopping_ = true;
    set_.close_all();
}

result<progress> router::answer(request& what, bson::builder& reply)
{
    if (node_.options.version < labels_since)
        what.labels_given = true;
    const bool own = std::ranges::find(own_commands, what.name) != own_commands.end();
    if (own && node_.options.auth && what.seen == 0 && !what.kept && needs_users(what))
        return progress::later;
    if (own)
        return local_.answer(what, reply);
    if (!node_.find_command(what.name) || is_for_members(what.name))
        return refuse(server_code::command_not_found,
                      "no such command: '" + std::string{what.name} + "'");
    if (node_.options.auth && what.client.users.empty() && !what.client.internal &&
        node_.find_command(what.name)->needs_login)
        return refuse(server_code::unauthorized,
                      "Command " + std::string{what.name} + " requires authentication");
    return progress::later;
}

awaitable<result<void>> router::answer_later(request& what, bson::builder& reply)
{
    if (needs_users(what)) {
        // Without a primary it has to do with those that it knows; a hello is answered anyway.
        [[maybe_unused]] const auto fetched = co_await fetch_users();
        auto answered = local_.answer(what, reply);
        if (!answered)
            co_return std::move(answered).error();
        co_return result<void>{};
    }
    const command* const known = node_.find_command(what.name);
    auto by = route_of(what, *known);
    if (!by)
        co_return std::move(by).error();
    auto done = co_await forward(what, reply, *std::move(by));
    co_return done;
}

result<router::route> router::route_of(const request& what, const command& known) const
{
    route made;
    const bool writes = known.writes || (what.name == "aggregate" && writes_by_pipeline(what.body));
    made.safe_to_repeat = what.txn_number.has_value() || (known.reads_data && !writes);
    if (what.name == "getMore" || what.name == "killCursors") {
        std::int64_t id = number_or(*what.body.begin(), 0);
        if (const bson::element all = what.body.find("cursors");
            what.name == "killCursors" && all.type() == bson::type::array)
            id = number_or(all.as_array()[0], 0);
        const auto owner = cursors_.find(id);
        if (owner != cursors_.end())
            made.host = owner->second;
        else if (what.name == "getMore")
            return refuse(server_code::cursor_not_found,
                          "cursor id " + std::to_string(id) + " not found");
        made.safe_to_repeat = false;
        return made;
    }
    const bson::element preference = what.body.find_path("$readPreference.mode");
    const std::string_view mode = text_or(preference, "primary");
    made.secondary = !writes && known.reads_data && mode.starts_with("secondary");
    made.secondary_only = made.secondary && mode == "secondary";
    return made;
}

awaitable<result<std::string>> router::find_host(route by, time_point until)
{
    if (!by.host.empty())
        co_return by.host;
    if (by.secondary) {
        std::string found = co_await set_.find_secondary();
        if (!found.empty())
            co_return found;
        if (by.secondary_only)
            co_return refuse(133,
                             "Could not find host matching read preference { mode: "
                             "\"secondary\" }");
    }
    auto primary = co_await set_.find_primary(until);
    co_return primary;
}

awaitable<result<void>> router::forward(request& what, bson::builder& reply, route by)
{
    const time_point give_up = std::min(node_.now() + options_.timeout,
                                        std::max(what.out_of_time(), node_.now()));
    for (;;) {
        const auto host = co_await find_host(by, give_up);
        if (!host)
            co_return host.error();
        const time_point now = node_.now();
        auto line = co_await set_.borrow(*host, std::min(give_up, now + 1s));
        const bool may_go_on = !stopping_ && by.host.empty() && node_.now() < give_up;
        if (!line) {
            set_.doubt(*host);
            if (may_go_on)
                continue;
            co_return refuse(server_code::host_unreachable, line.error().message());
        }
        const auto limit = std::chrono::milliseconds{what.max_time_ms.value_or(0)};
        const auto answered = co_await (*line)->forward(what.message, what.body, now + limit + 60s);
        if (!answered) {
            set_.doubt(*host);
            if (may_go_on && by.safe_to_repeat && !stopping_ &&
                answered.error().code() != boost::system::errc::operation_canceled)
                continue;
            co_return refuse(server_code::host_unreachable, answered.error().message());
        }
        if (may_go_on && disowned(*answered, by, *host)) {
            set_.give_back(*host, *std::move(line));
            co_await runtime::sleep_until(node_.world, node_.now() + pause_before_next);
            continue;
        }
        remember_cursor(what, *answered, *host);
        if (const bson::element time = answered->find_path("$clusterTime.clusterTime");
            time.type() == bson::type::timestamp)
            node_.saw_cluster_time(time.as_timestamp());
        for (const bson::element& field : *answered) {
            if (field && field.key() != "topologyVersion")  // the member's, not ours
                reply.copy(field);
        }
        what.forwarded = true;
        set_.give_back(*host, *std::move(line));
        co_return result<void>{};
    }
}

bool router::disowned(bson::view reply, const route& by, std::string_view host)
{
    if (said_ok(reply) || reply.empty())
        return false;
    const std::int64_t code = number_or(reply.find("code"), 0);
    if (!is_not_primary(code) && !is_interrupted(code))
        return false;
    set_.doubt(host);
    return is_not_primary(code) || by.safe_to_repeat;
}

void router::remember_cursor(const request& what, bson::view reply, std::string_view host)
{
    const bson::element cursor = reply.find("cursor");
    if (cursor.type() != bson::type::document)
        return;
    const std::int64_t id = number_or(cursor.as_document().find("id"), 0);
    if (id == 0 && what.name == "getMore") {
        cursors_.erase(number_or(*what.body.begin(), 0));
        return;
    }
    if (id == 0 || !cursors_.emplace(id, host).second)
        return;
    cursor_order_.push_back(id);
    while (cursors_.size() > most_cursors || cursor_order_.size() > 2 * most_cursors) {
        cursors_.erase(cursor_order_.front());
        cursor_order_.pop_front();
    }
}

/// Users are the set's. A router looks them up before a client logs in.
awaitable<result<void>> router::fetch_users()
{
    const time_point until = node_.now() + 5s;
    const auto host = co_await set_.find_primary(until);
    if (!host)
        co_return host.error();
    auto line = co_await set_.borrow(*host, until);
    if (!line)
        co_return line.error();
    const bson::document find = document_of([](bson::builder& out) {
        out.add("find", "system.users").add("batchSize", 10'000).add("$db", "admin");
    });
    const auto reply = co_await (*line)->ask(find.view(), until);
    if (!reply)
        co_return reply.error();
    catalog& own = node_.data->data();
    const bson::timestamp now = node_.data->last().ts;
    own.drop("admin.system.users");
    auto users = own.create("admin.system.users", bson::uuid{}, {});
    const bson::element batch = reply->find_path("cursor.firstBatch");
    if (users && batch.type() == bson::type::array) {
        for (const bson::element& user : batch.as_array()) {
            if (user.type() == bson::type::document)
                (void)(*users)->insert(user.as_document(), now);
        }
    }
    set_.give_back(*host, *std::move(line));
    co_return result<void>{};
}

void router::close_reply(const request& what, bson::builder& reply)
{
    local_.close_reply(what, reply);
    if (!what.forwarded)
        add_times(reply);
}

void router::write_error(const request& what, const error& why, bson::builder& reply)
{
    local_.write_error(what, why, reply);
    add_times(reply);
}

/// It has no time of its own: it passes on the newest that members have reported.
void router::add_times(bson::builder& reply) const
{
    const bson::timestamp newest = node_.cluster_time();
    if (newest != bson::timestamp{})
        put_times(reply, newest, newest);
}

std::optional<injected_fault> router::fault_for(const request& what)
{
    return local_.fault_for(what);
}

}  // namespace holdfast::lab::mongo
