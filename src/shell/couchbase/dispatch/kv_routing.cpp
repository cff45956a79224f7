// Where the requests of a bucket go.
#include "core/couchbase/retry/classify_kv.hpp"
#include "core/couchbase/route/vbucket.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/dispatch/kv_bucket.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using core::couchbase::obstacle;
using holdfast::couchbase::errc;

namespace {

/// The part of a reply that says how new its server's list of collections is.
std::optional<std::uint64_t> manifest_uid_in(std::string_view body)
{
    constexpr std::string_view name = "\"manifest_uid\":\"";
    const std::size_t at = body.substr(0, 1024).find(name);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::string_view rest = body.substr(at + name.size());
    return core::couchbase::parse_manifest_uid(rest.substr(0, rest.find('"')));
}

std::string in_milliseconds(duration span)
{
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(span).count()) +
           " ms";
}

std::string described(const kv_link::snapshot& one, time_point now)
{
    std::string text = one.server.value();
    switch (one.is) {
    case kv_link::stage::connecting:
        text += ": connecting for " + in_milliseconds(now - one.since);
        break;
    case kv_link::stage::connected:
        text += ": connected for " + in_milliseconds(now - one.since);
        break;
    case kv_link::stage::reconnecting:
        text += ": not connected";
        break;
    case kv_link::stage::retired:
        text += ": left";
        break;
    }
    if (one.last_failure && one.is != kv_link::stage::connected)
        text += ", last error " + in_milliseconds(now - one.failed_at) +
                " ago: " + one.last_failure->message();
    return text;
}

}  // namespace

/// With the mutex held: the next one in turn that is connected, or just the next one.
const std::shared_ptr<kv_link>& kv_bucket::choose_lane(const node_links& of)
{
    if (of.lanes.size() == 1)
        return of.lanes.front();
    for (std::size_t tries = 0; tries != of.lanes.size(); ++tries) {
        const auto& lane = of.lanes[++turn_ % of.lanes.size()];
        if (lane->where() == kv_link::stage::connected)
            return lane;
    }
    return of.lanes[turn_ % of.lanes.size()];
}

/// With the mutex held.
bool kv_bucket::may_read(const core::couchbase::kv_order& order, std::uint16_t vbucket) const
{
    const auto copies = core::couchbase::copies_to_read(
        *routes_.config, vbucket, *order.preference,
        cluster_.settings().server_group ? std::string_view{*cluster_.settings().server_group}
                                         : std::string_view{});
    return std::ranges::any_of(copies.all(),
                               [&](const auto& one) { return one.copy == order.copy; });
}

/// With the mutex held. Ready but for the collection.
void kv_bucket::find_node(const core::couchbase::kv_order& order, time_point now, kv_route& into)
{
    const auto obstruct = [&](obstacle what) {
        into.is = kv_route::kind::obstructed;
        into.obstacle = what;
    };
    into.is = kv_route::kind::opening;
    if (!routes_.config) [[unlikely]]
        return;
    const auto& map = routes_.config->bucket->map;
    into.vbucket = core::couchbase::vbucket_of(order.key, map.size);
    if (order.preference && !may_read(order, into.vbucket)) [[unlikely]] {
        into.is = kv_route::kind::no_copy;
        return;
    }
    const auto node = core::couchbase::node_of(map, into.vbucket, order.copy);
    if (!node || routes_.nodes[*node].lanes.empty()) [[unlikely]]
        return obstruct(node ? obstacle::service_not_present : obstacle::node_gone);
    into.link = choose_lane(routes_.nodes[*node]);
    into.connection = into.link->current();
    if (!into.connection) [[unlikely]] {
        if (into.link->where() != kv_link::stage::connecting)
            obstruct(obstacle::all_sockets_down);
    } else if (cluster_.breaker() && !into.link->allows(now)) [[unlikely]] {
        obstruct(obstacle::circuit_open);
    } else {
        into.is = kv_route::kind::ready;
    }
}

bool kv_bucket::find_now(const core::couchbase::kv_order& order, const keyspace& in, time_point now,
                         kv_route& into)
{
    const std::scoped_lock lock{mutex_};
    find_node(order, now, into);
    if (into.is != kv_route::kind::ready) [[unlikely]]
        return false;
    if (in.id_version != ids_.version()) [[unlikely]] {
        const auto id = ids_.known_id(in.path);
        if (!id)
            return false;
        in.id_version = ids_.version();
        in.id = *id;
    }
    into.collection = in.id;
    return true;
}

kv_route kv_bucket::find(const core::couchbase::kv_order& order, const keyspace& in,
                         core::couchbase::waiter_id id, time_point now)
{
    const std::scoped_lock lock{mutex_};
    kv_route route;
    find_node(order, now, route);
    if (route.is != kv_route::kind::ready)
        return route;
    const auto step = ids_.ask(in.path, id);
    if (const auto* known = std::get_if<core::couchbase::use_id>(&step)) {
        route.collection = known->id;
    } else if (std::holds_alternative<core::couchbase::look_up>(step)) {
        route.is = kv_route::kind::look_up;
    } else if (std::holds_alternative<core::couchbase::wait_for_look_up>(step)) {
        route.is = kv_route::kind::waits_for_look_up;
    } else if (const auto* no = std::get_if<core::couchbase::name_is_unknown>(&step)) {
        route.is = kv_route::kind::obstructed;
        route.obstacle = no->what == core::couchbase::unknown_name::scope
                             ? obstacle::scope_not_in_map
                             : obstacle::collection_not_in_map;
    } else if (std::holds_alternative<core::couchbase::server_is_behind>(step)) {
        route.is = kv_route::kind::obstructed;
        route.obstacle = obstacle::manifest_behind;
    } else {
        route.is = kv_route::kind::obstructed;
        route.obstacle = obstacle::socket_not_writable;
    }
    return route;
}

runtime::awaitable<look_up_end> kv_bucket::look_up(std::shared_ptr<kv_connection> by,
                                                   const keyspace& in, time_point until)
{
    const auto self = shared_from_this();
    core::couchbase::request_frame question;
    question.opcode = kv_opcode::get_collection_id;
    question.value = core::couchbase::as_octets(in.path);
    const time_point now = cluster_.world().steady_now();
    if (is_silent(*by, now, silence)) {
        if (auto other = connection_to_ask(now))
            by = std::move(other);
    }
    duration within{};
    {
        const std::scoped_lock lock{mutex_};
        within = look_up_within_;
    }
    // All other requests for the collection wait for this one, whichever nodes they go to.
    auto answer = co_await ask(by, question, std::min(until, now + within));
    look_up_end end;
    {
        const std::scoped_lock lock{mutex_};
        if (answer)
            end = take_collection_id(answer->frame(), in, *by);
        else
            end.is_late = answer.error().code() == errc::unambiguous_timeout;
        if (!end.is_late)
            look_up_within_ = first_reply;
        else if (now + within < until)
            look_up_within_ = std::min(within * 2, last_reply);
        if (!end.is_settled)
            ids_.failed(in.path);
    }
    if (end.is_settled)
        cluster_.with_facts([&](core::couchbase::health& facts) { facts.manifest_fetched(name_); });
    changed_.notify();
    co_return end;
}

/// With the mutex held.
look_up_end kv_bucket::take_collection_id(const core::couchbase::frame& answer, const keyspace& in,
                                          const kv_connection& from)
{
    const kv_status status = answer.status();
    if (status == kv_status::success) {
        core::couchbase::big_endian_reader extras{answer.extras()};
        const auto uid = extras.take<std::uint64_t>();
        const auto id = extras.take<std::uint32_t>();
        if (!uid || !id)
            return {.refused = core::couchbase::classification{
                        .code = errc::decoding_failure,
                        .message = "the reply to a look-up of a collection has no id in it"}};
        ids_.found(in.path, *id, *uid);
        return {.is_settled = true};
    }
    if (status != kv_status::unknown_collection && status != kv_status::unknown_scope)
        return {.refused = core::couchbase::classify_kv(kv_opcode::get_collection_id, status,
                                                        from.error_map())};
    ids_.not_found(in.path,
                   status == kv_status::unknown_scope ? core::couchbase::unknown_name::scope
                                                      : core::couchbase::unknown_name::collection,
                   manifest_uid_in(core::couchbase::as_text(answer.value())));
    return {.is_settled = true};
}

void kv_bucket::forget_waiter(const keyspace& in, core::couchbase::waiter_id id)
{
    const std::scoped_lock lock{mutex_};
    ids_.forget(in.path, id);
}

void kv_bucket::collection_outdated(const keyspace& in, std::uint32_t used, std::string_view body)
{
    const auto uid = manifest_uid_in(body);
    const std::scoped_lock lock{mutex_};
    ids_.outdated(in.path, used, uid);
}

std::string kv_bucket::waiting_for(time_point now, const std::string& what) const
{
    std::string text = name_.empty() ? "the cluster" : "bucket \"" + name_ + "\"";
    const bool has_config = config() != nullptr;
    text += has_config ? ": waiting for " + what : ": no configuration yet";
    constexpr std::size_t most_shown = 10;
    std::size_t shown = 0;
    for (const auto& link : links()) {
        if (++shown > most_shown)
            break;
        text += (shown == 1 ? " (" : "; ") + described(link->look(), now);
    }
    if (shown == 0)
        return text + "; the seeds are being looked up";
    return text + (shown > most_shown ? "; ...)" : ")");
}

}  // namespace holdfast::shell::couchbase
